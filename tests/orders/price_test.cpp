// Prices are exact: worked examples, and what must hold of any quote.

#include "apps/orders/domain/money.hpp"
#include "apps/orders/domain/quote.hpp"
#include "semel/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace orders {
namespace {

using namespace std::chrono_literals;
using semel::Decimal;

Decimal number(std::string_view text) { return Decimal::parse(text).value(); }

Product product(std::string_view list_price, std::string_view tax_rate = "0.20",
                std::vector<QuantityDiscount> discounts = {}) {
    return {.sku = "fiber",
            .name = "Fibre",
            .list_price = number(list_price),
            .tax_rate = number(tax_rate),
            .discounts = std::move(discounts)};
}

QuoteItem item(const LinePrice& price) {
    QuoteItem made;
    made.price = price;
    return made;
}

Quote empty_quote(const std::string& currency) {
    Quote quote;
    quote.currency = currency;
    quote.sums = Sums::none(currency);
    return quote;
}

Quote quote_in(std::string_view state, semel::Timestamp valid_until) {
    Quote quote = empty_quote("EUR");
    quote.state = state;
    quote.valid_until = valid_until;
    return quote;
}

std::string text(const LinePrice& line) {
    return line.discount.text() + ": " + line.sums.net.text() + " + " + line.sums.tax.text() + " = " +
           line.sums.gross.text();
}

std::string listed(const Product& product, std::int64_t quantity, std::string_view currency = "EUR") {
    return text(price_from_list(product, quantity, currency).value());
}

TEST(Price, IsUnitPriceTimesQuantityAndTax) {
    EXPECT_EQ(listed(product("29.90"), 3), "0: 89.70 + 17.94 = 107.64");
    EXPECT_EQ(listed(product("0.01"), 1), "0: 0.01 + 0.00 = 0.01");
    EXPECT_EQ(listed(product("0"), 1'000'000), "0: 0.00 + 0.00 = 0.00");
}

TEST(Price, IsRoundedHalfUpOncePerSum) {
    // 12.35 × 5 % = 0.6175; 2.5 × 5 % = 0.125, the half that goes up.
    EXPECT_EQ(listed(product("12.35", "0.05"), 1), "0: 12.35 + 0.62 = 12.97");
    EXPECT_EQ(listed(product("2.50", "0.05"), 1), "0: 2.50 + 0.13 = 2.63");
    // Of the line, not of the piece: 3 × 0.335 is 1.005, which is 1.01; three pieces rounded first would be 1.02.
    EXPECT_EQ(listed(product("0.335", "0"), 3), "0: 1.01 + 0.00 = 1.01");
    // The tax is of the rounded net.
    EXPECT_EQ(listed(product("0.0249", "1"), 1), "0: 0.02 + 0.02 = 0.04");
}

TEST(Price, TakesTheDiscountOfTheLargestQuantityReached) {
    const Product tiered = product("10.00", "0.20", {{10, number("0.05")}, {100, number("0.12")}});
    EXPECT_EQ(listed(tiered, 9), "0: 90.00 + 18.00 = 108.00");
    EXPECT_EQ(listed(tiered, 10), "0.05: 95.00 + 19.00 = 114.00");
    EXPECT_EQ(listed(tiered, 99), "0.05: 940.50 + 188.10 = 1128.60");
    EXPECT_EQ(listed(tiered, 100), "0.12: 880.00 + 176.00 = 1056.00");
    // 50 × 12.35 × 0.667 = 411.8725
    EXPECT_EQ(listed(product("12.35", "0.05", {{50, number("0.333")}}), 50), "0.333: 411.87 + 20.59 = 432.46");
}

TEST(Price, HasAsManyDigitsAsItsCurrency) {
    EXPECT_EQ(listed(product("100.5"), 1, "JPY"), "0: 101 + 20 = 121");
    EXPECT_EQ(listed(product("1.2345"), 1, "KWD"), "0: 1.235 + 0.247 = 1.482");
    for (const char* none : {"JPY", "KRW", "VND", "CLP", "ISK", "UGX", "XOF", "XAF", "PYG", "RWF"})
        EXPECT_EQ(places_of(none), 0) << none;
    for (const char* three : {"BHD", "KWD", "OMR", "JOD", "TND", "IQD", "LYD"}) EXPECT_EQ(places_of(three), 3) << three;
    for (const char* two : {"EUR", "USD", "XYZ"}) EXPECT_EQ(places_of(two), 2) << two;
    EXPECT_EQ(Sums::none("JPY").gross.text() + " " + Sums::none("EUR").gross.text(), "0 0.00");
}

TEST(Price, AsAgreedHasNoDiscountOnTop) {
    const LinePrice line = price_as_agreed(number("12.5"), number("0.20"), 1000, "EUR").value();
    EXPECT_TRUE(line.agreed);
    EXPECT_EQ(text(line), "0: 12500.00 + 2500.00 = 15000.00");
}

TEST(Price, OfTheLargestQuoteThereMayBeFits) {
    const Decimal most = parse_money("999999999999999.9999").value();
    Quote quote = empty_quote("KWD");
    for (std::size_t i = 0; i < quote_items_max; ++i)
        quote.items.push_back(item(price_as_agreed(most, number("0.9999"), quantity_max, "KWD").value()));
    const Sums sums = quote.summed().value();
    EXPECT_EQ(sums.net.text(), "99999999999999999990000.000");
    EXPECT_EQ(sums.net.plus(sums.tax).value(), sums.gross);
}

TEST(Price, BeyondThirtyEightDigitsIsRefusedAndNotRounded) {
    const auto line = price_from_list(product("12345678901234567890123456789012345678"), 1'000'000, "EUR");
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().fault, semel::Fault::rejected);
}

TEST(Price, OfAnyQuoteIsTheSumOfItsLinesToTheLastDigit) {
    semel::SeededRandom random(20260115);
    for (int round = 0; round < 300; ++round) {
        const std::string currency = std::array{"EUR", "JPY", "TND"}[random.below(3)];
        Quote quote = empty_quote(currency);
        semel::Int128 gross = 0;
        for (std::uint64_t lines = 1 + random.below(quote_items_max); lines > 0; --lines) {
            const Decimal unit = Decimal::of(static_cast<semel::Int128>(random.below(1'000'000'000)), 4).value();
            const Decimal rate = Decimal::of(static_cast<semel::Int128>(random.below(300)), 3).value();
            const auto quantity = static_cast<std::int64_t>(1 + random.below(1000));
            const Decimal off = Decimal::of(static_cast<semel::Int128>(random.below(1001)), 3).value();
            const Product sold = {
                .sku = "s", .name = "n", .list_price = unit, .tax_rate = rate, .discounts = {{500, off}}};
            const LinePrice line = random.below(2) == 0 ? price_from_list(sold, quantity, currency).value()
                                                        : price_as_agreed(unit, rate, quantity, currency).value();
            EXPECT_EQ(line.sums.net.scale(), places_of(currency));
            EXPECT_EQ(line.sums.net.plus(line.sums.tax).value(), line.sums.gross);
            EXPECT_GE(line.sums.net, Decimal(0));
            gross += line.sums.gross.coefficient();
            quote.items.push_back(item(line));
            // As items are added, one by one…
            quote.sums = quote.sums.plus(line.sums).value();
        }
        // …and as a run adds all of them.
        EXPECT_EQ(quote.summed().value(), quote.sums);
        EXPECT_EQ(quote.sums.net.plus(quote.sums.tax).value(), quote.sums.gross);
        EXPECT_EQ(quote.sums.gross.text(), Decimal::of(gross, places_of(currency)).value().text());
    }
}

TEST(QuotePolicy, AsksByTheGrossSumFromTheThresholdOn) {
    const QuotePolicy policy;
    EXPECT_EQ(policy.approvals_for(number("999.99")), 0);
    EXPECT_EQ(policy.approvals_for(number("1000")), 1);
    EXPECT_EQ(policy.approvals_for(number("49999.99")), 1);
    EXPECT_EQ(policy.approvals_for(number("50000.00")), 2);
}

TEST(QuotePolicy, LetsAQuoteStandAsAskedOrAsLongAsTheHouseHasIt) {
    const QuotePolicy policy{.validity = 48h};
    const semel::Timestamp now(1'000'000s);
    EXPECT_EQ(std::get<semel::Timestamp>(policy.standing(std::nullopt, now)), now + 48h);
    EXPECT_EQ(std::get<semel::Timestamp>(policy.standing(now + 1us, now)), now + 1us);
    EXPECT_TRUE(std::holds_alternative<Refusal>(policy.standing(now, now)));
}

TEST(Quote, CountsAsExpiredFromTheMomentItsTimeHasPassed) {
    const semel::Timestamp end(1'000'000s);
    for (const std::string_view open :
         {quote_state::draft, quote_state::submitted, quote_state::approved, quote_state::accepted}) {
        const Quote quote = quote_in(open, end);
        EXPECT_EQ(quote.state_at(end - 1us), open);
        EXPECT_EQ(quote.state_at(end), quote_state::expired);
        EXPECT_EQ(quote.as_of(end).snapshot().state, quote_state::expired);
    }
    for (const std::string_view ended : {quote_state::rejected, quote_state::converted, quote_state::expired}) {
        const Quote quote = quote_in(ended, end);
        EXPECT_EQ(quote.state_at(end + 24h), ended);
    }
}

}  // namespace
}  // namespace orders
