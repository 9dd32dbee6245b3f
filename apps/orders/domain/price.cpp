#include "apps/orders/domain/price.hpp"

#include <algorithm>
#include <array>

namespace orders {
namespace {

using semel::Decimal;
using semel::Result;
using semel::Rounding;

// ISO 4217: the currencies whose smallest unit is not a hundredth.
constexpr std::array<std::string_view, 16> without_places{"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW",
                                                          "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"};
constexpr std::array<std::string_view, 7> with_three_places{"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"};

Result<Sums> sums_of(const LinePrice& line, std::int64_t quantity, std::string_view currency) {
    const int places = places_of(currency);
    const Decimal listed = SEMEL_TRY(line.unit_price.times(Decimal(quantity)));
    const Decimal share = SEMEL_TRY(Decimal(1).minus(line.discount));
    const Decimal exact_net = SEMEL_TRY(listed.times(share));
    const Decimal net = SEMEL_TRY(exact_net.rounded(places, Rounding::half_up));
    const Decimal exact_tax = SEMEL_TRY(net.times(line.tax_rate));
    const Decimal tax = SEMEL_TRY(exact_tax.rounded(places, Rounding::half_up));
    return Sums{.net = net, .tax = tax, .gross = SEMEL_TRY(net.plus(tax))};
}

/// The largest quantity that is reached counts.
Decimal discount_at(const std::vector<QuantityDiscount>& discounts, std::int64_t quantity) {
    Decimal rate;
    for (const QuantityDiscount& discount : discounts) {
        if (quantity >= discount.quantity_from) rate = discount.rate;
    }
    return rate;
}

}  // namespace

Sums Sums::none(std::string_view currency) {
    const Decimal zero = Decimal::of(0, places_of(currency)).value();
    return {.net = zero, .tax = zero, .gross = zero};
}

Result<Sums> Sums::plus(const Sums& other) const {
    return Sums{.net = SEMEL_TRY(net.plus(other.net)),
                .tax = SEMEL_TRY(tax.plus(other.tax)),
                .gross = SEMEL_TRY(gross.plus(other.gross))};
}

int places_of(std::string_view currency) noexcept {
    if (std::ranges::find(without_places, currency) != without_places.end()) return 0;
    if (std::ranges::find(with_three_places, currency) != with_three_places.end()) return 3;
    return 2;
}

Result<LinePrice> price_from_list(const Product& product, std::int64_t quantity, std::string_view currency) {
    SEMEL_ASSERT(product.list_price.has_value());
    LinePrice line{.unit_price = *product.list_price,
                   .agreed = false,
                   .discount = discount_at(product.discounts, quantity),
                   .tax_rate = product.tax_rate};
    line.sums = SEMEL_TRY(sums_of(line, quantity, currency));
    return line;
}

Result<LinePrice> price_as_agreed(const Decimal& unit_price, const Decimal& tax_rate, std::int64_t quantity,
                                  std::string_view currency) {
    LinePrice line{.unit_price = unit_price, .agreed = true, .tax_rate = tax_rate};
    line.sums = SEMEL_TRY(sums_of(line, quantity, currency));
    return line;
}

}  // namespace orders
