#pragma once

#include "apps/orders/domain/quote.hpp"

#include <string>
#include <string_view>

namespace orders {

// What other systems are told of a quote: the payloads of the contracts docs/events/quote.*.v1.json, as JSON text. Each
// begins with the head of the quote as it is now. Sums are strings, as in the API.

[[nodiscard]] std::string quote_created_payload(const Quote& quote);
[[nodiscard]] std::string quote_item_added_payload(const Quote& quote, const QuoteItem& item);
[[nodiscard]] std::string quote_repriced_payload(const Quote& quote);
[[nodiscard]] std::string quote_submitted_payload(const Quote& quote);
[[nodiscard]] std::string quote_approval_granted_payload(const Quote& quote, std::string_view approver);
/// No approver: nobody had to be asked.
[[nodiscard]] std::string quote_approved_payload(const Quote& quote, std::string_view approver = {});
[[nodiscard]] std::string quote_rejected_payload(const Quote& quote, std::string_view approver,
                                                 std::string_view reason);
[[nodiscard]] std::string quote_accepted_payload(const Quote& quote, std::string_view accepted_by);
[[nodiscard]] std::string quote_converted_payload(const Quote& quote, const semel::Uuid& order_id);
/// Of a step that brings nothing but the quote itself: quote.revised, quote.expired. No reason: none was given.
[[nodiscard]] std::string quote_step_payload(const Quote& quote, std::string_view reason = {});

}  // namespace orders
