#include "apps/orders/domain/quote.hpp"

namespace orders {

std::string_view Quote::state_at(semel::Timestamp now) const noexcept {
    return now >= valid_until && quote_step::expire.allowed_from(state) ? quote_state::expired
                                                                        : std::string_view(state);
}

Quote Quote::as_of(semel::Timestamp now) const {
    Quote quote = *this;
    quote.state = state_at(now);
    if (quote.state != state) quote.state_on_record = state;
    return quote;
}

semel::Result<Sums> Quote::summed() const {
    Sums all = Sums::none(currency);
    for (const QuoteItem& item : items) all = SEMEL_TRY(all.plus(item.price.sums));
    return all;
}

std::int64_t QuotePolicy::approvals_for(const semel::Decimal& gross) const noexcept {
    if (gross >= second_approval_from) return 2;
    return gross >= approval_from ? 1 : 0;
}

Handled<semel::Timestamp> QuotePolicy::standing(std::optional<semel::Timestamp> asked, semel::Timestamp now) const {
    if (!asked) return now + std::chrono::duration_cast<semel::Timestamp::duration>(validity);
    if (*asked <= now)
        return Refusal(Unacceptable{.field = "validUntil", .detail = "The time in `validUntil` has passed already."});
    return *asked;
}

}  // namespace orders
