#include "apps/orders/domain/quote.hpp"

namespace orders {

semel::Result<semel::Decimal> Quote::total() const {
    semel::Decimal sum;
    for (const QuoteItem& item : items) {
        const semel::Decimal price = SEMEL_TRY(item.total());
        sum = SEMEL_TRY(sum.plus(price));
    }
    return sum;
}

semel::GuardedTransition adding_an_item(std::int64_t expected_version) {
    return {.from = {std::string(quote_state::draft)},
            .to = std::string(quote_state::draft),
            .expected_version = expected_version};
}

}  // namespace orders
