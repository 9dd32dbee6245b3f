#pragma once

#include "apps/orders/domain/quote.hpp"
#include "apps/orders/domain/refusal.hpp"
#include "semel/command/command.hpp"

#include <optional>
#include <string>

namespace orders {

// Putting a quote together: create, add items, price them. What becomes of it then is in quote_life.hpp.

/// Which quote a command is about, and what its caller saw of it: two who have seen the same cannot both write.
struct SeenQuote {
    semel::Uuid id;
    std::int64_t version = 0;
};

/// Whether what a command is about to do was done to the quote already, by another: then how to refuse it.
using Already = std::optional<Refusal> (*)(const Quote&);

/// The quote as it counts now, for a handler that is about to take `step`; or what stands in the way: NoSuch, what
/// `already` says, WrongState, Stale. The one read of most commands.
[[nodiscard]] semel::Result<Handled<Quote>> quote_for(const Step& step, const SeenQuote& seen, semel::Work& work,
                                                      Already already = nullptr);

struct CreateQuote {
    std::string customer_id;
    std::string currency;
    std::optional<semel::Timestamp> valid_until{};  ///< None: as long as the policy has it.
};
/// Only posts: claim, quote, event, audit, reply and COMMIT are one round trip. Refused with Unacceptable if its time
/// has passed already.
[[nodiscard]] Handled<Quote> create_quote(const CreateQuote& asked, const QuotePolicy& policy, semel::Work& work);

struct AddQuoteItem {
    SeenQuote quote;
    std::string sku;
    std::int64_t quantity = 1;
    std::optional<semel::Decimal> unit_price{};  ///< As agreed; none: the list's.
    std::string instance_key{};
};
/// The quote with the new item at its end, priced. Refused with NoSuch, WrongState, Stale, Full, Unacceptable (no
/// list price in this currency), or Duplicate if that version has brought an item already (`quote_item_version_key`).
[[nodiscard]] semel::Result<Handled<Quote>> add_quote_item(const AddQuoteItem& asked, semel::Work& work);

struct RepriceQuote {
    SeenQuote quote;
    std::string price_run_id{};  ///< Of whoever starts the run; empty: the command's own.
};
/// Every line at what the catalogue says today; an agreed price stays, and takes today's tax. Refused with NoSuch,
/// WrongState, Stale, Unacceptable, or Duplicate if this run has priced the quote already: found by looking, or by
/// its key (`price_run_key`), and then `refuse_second_run` decides.
[[nodiscard]] semel::Result<Handled<Quote>> reprice_quote(const RepriceQuote& asked, semel::Work& work);
[[nodiscard]] semel::Result<Handled<Quote>> refuse_second_run(const RepriceQuote& asked, semel::Work& work);

}  // namespace orders
