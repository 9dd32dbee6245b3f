#pragma once

#include "apps/orders/domain/quote.hpp"
#include "apps/orders/handlers/handled.hpp"
#include "semel/command/command.hpp"

#include <string>

namespace orders {

struct CreateQuote {
    std::string customer_id;
    std::string currency;
};
/// Only posts: claim, quote, event, reply and COMMIT are one round trip.
[[nodiscard]] Quote create_quote(const CreateQuote& asked, semel::Work& work);

struct AddQuoteItem {
    semel::Uuid quote_id;
    std::int64_t expected_version = 0;  ///< What the caller has seen; two who have seen the same cannot both write.
    std::string sku;
    std::int64_t quantity = 1;
    semel::Decimal unit_price;
};
/// Refused with NoSuch, Stale, WrongState or Full.
[[nodiscard]] semel::Result<Handled<QuoteItem>> add_quote_item(const AddQuoteItem& asked, semel::Work& work);

}  // namespace orders
