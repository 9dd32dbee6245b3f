#pragma once

#include "apps/orders/domain/approval.hpp"
#include "apps/orders/domain/price.hpp"
#include "apps/orders/domain/step.hpp"
#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

namespace quote_state {

inline constexpr std::string_view draft = "DRAFT";          ///< Being put together: items may change.
inline constexpr std::string_view submitted = "SUBMITTED";  ///< Waits for those who must approve.
inline constexpr std::string_view approved = "APPROVED";    ///< The customer may accept it.
inline constexpr std::string_view rejected = "REJECTED";    ///< Ours said no; a revision may follow.
inline constexpr std::string_view accepted = "ACCEPTED";    ///< The customer said yes.
inline constexpr std::string_view converted = "CONVERTED";  ///< It is an order now. Final.
inline constexpr std::string_view expired = "EXPIRED";      ///< Its time passed; a revision may follow.
inline constexpr std::array all{draft, submitted, approved, rejected, accepted, converted, expired};

}  // namespace quote_state

// The life of a quote.
namespace quote_step {

namespace state = quote_state;

inline constexpr Step add_item{.from = {state::draft}, .to = state::draft, .event = "quote.item_added"};
inline constexpr Step reprice{.from = {state::draft}, .to = state::draft, .event = "quote.repriced"};
inline constexpr Step submit{.from = {state::draft}, .to = state::submitted, .event = "quote.submitted"};
/// Below the threshold nobody has to be asked.
inline constexpr Step submit_unasked{.from = {state::draft}, .to = state::approved, .event = "quote.approved"};
/// One approval of several.
inline constexpr Step approve_partly{
    .from = {state::submitted}, .to = state::submitted, .event = "quote.approval_granted"};
inline constexpr Step approve{.from = {state::submitted}, .to = state::approved, .event = "quote.approved"};
inline constexpr Step reject{.from = {state::submitted}, .to = state::rejected, .event = "quote.rejected"};
inline constexpr Step accept{.from = {state::approved}, .to = state::accepted, .event = "quote.accepted"};
inline constexpr Step convert{.from = {state::accepted}, .to = state::converted, .event = "quote.converted"};
/// The next revision, with the same items.
inline constexpr Step revise{.from = {state::submitted, state::approved, state::rejected, state::expired},
                             .to = state::draft,
                             .event = "quote.revised"};
inline constexpr Step expire{.from = {state::draft, state::submitted, state::approved, state::accepted},
                             .to = state::expired,
                             .event = "quote.expired"};

}  // namespace quote_step

/// A reply holds the whole quote, so there is an end to it.
inline constexpr std::size_t quote_items_max = 100;
inline constexpr std::int64_t quantity_max = 1'000'000;

struct QuoteItem {
    semel::Uuid id;
    std::string sku;
    std::int64_t quantity = 1;
    std::string instance_key{};  ///< What it will run on ("line-4711"); empty: nothing in particular.
    LinePrice price{};
    std::string price_run_id{};      ///< Which run priced it.
    std::int64_t since_version = 0;  ///< The version of the quote that brought it.
};

/// An offer to a customer. Every change makes the next version; a revision is what the customer gets to see.
struct Quote {
    semel::Uuid id;
    std::string customer_id;
    std::string currency;
    std::string state{quote_state::draft};
    std::int64_t revision = 1;
    std::int64_t version = 1;
    std::int64_t item_count = 0;
    Sums sums{};                 ///< Of all items.
    std::string price_run_id{};  ///< The last run over all items; empty: none yet.
    semel::Timestamp valid_until{};
    semel::Timestamp created_at{};
    std::optional<Approval> approval{};  ///< The one that pends; none: nobody is asked now.
    std::string accepted_by_command{};   ///< Which accepted this revision; empty: none did.
    std::string state_on_record{};       ///< Where time alone has made the state another; see `as_of`.
    std::string decided_by_command{};    ///< By which the approver it was loaded for decided on this revision.
    std::vector<QuoteItem> items{};      ///< In the order in which they were added; empty where only the head was read.

    [[nodiscard]] Snapshot snapshot() const noexcept { return {.kind = "quote", .state = state, .version = version}; }
    /// The state as it counts at `now`: a quote whose time has passed is expired, whether or not that was noted yet.
    [[nodiscard]] std::string_view state_at(semel::Timestamp now) const noexcept;
    /// The same quote in the state in which it counts at `now`. What is shown and what is decided begin with this.
    [[nodiscard]] Quote as_of(semel::Timestamp now) const;
    /// The sums of the items, for `sums`.
    [[nodiscard]] semel::Result<Sums> summed() const;
};

/// Who has to be asked, by the gross sum of the quote, and how long it stands. Sums are compared as numbers, whatever the
/// currency: a house that sells in several sets its thresholds for its own.
struct QuotePolicy {
    semel::Decimal approval_from{1'000};          ///< From here on one approval.
    semel::Decimal second_approval_from{50'000};  ///< From here on two, by two people.
    semel::Duration validity = std::chrono::hours(24 * 30);

    [[nodiscard]] std::int64_t approvals_for(const semel::Decimal& gross) const noexcept;
    /// Until when a quote stands that was asked for at `now`; Unacceptable if what was asked for has passed already.
    [[nodiscard]] Handled<semel::Timestamp> standing(std::optional<semel::Timestamp> asked, semel::Timestamp now) const;
};

}  // namespace orders
