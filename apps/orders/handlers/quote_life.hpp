#pragma once

#include "apps/orders/handlers/quotes.hpp"

#include <functional>
#include <optional>
#include <string>

namespace orders {

// What becomes of a quote: submitted, decided upon, accepted, revised, expired. Each handler comes to the quote as it
// is then, or is refused with NoSuch, WrongState or Stale, and with what it says itself. Each reads once and sees all
// that its unique keys guard, so on a violation of one it can simply run again, and then it finds what was there first.

/// By its sum nobody, one or two must approve; nobody: it is approved at once. Duplicate if an approval of this revision
/// pends already (`pending_approval_key`).
[[nodiscard]] semel::Result<Handled<Quote>> submit_quote(const SeenQuote& asked, const QuotePolicy& policy,
                                                         semel::Work& work);

/// A step of a quote, and why, if somebody says so.
struct AskedStep {
    SeenQuote quote;
    std::string reason{};
};
/// The caller is the approver. As many approvals as needed approve the quote, the first rejection rejects it. Duplicate
/// if this approver has decided on this revision already, whatever became of it since (`quote_decision_key`).
[[nodiscard]] semel::Result<Handled<Quote>> approve_quote(const AskedStep& asked, semel::Work& work);
[[nodiscard]] semel::Result<Handled<Quote>> reject_quote(const AskedStep& asked, semel::Work& work);

/// The customer says yes. Duplicate if this revision was accepted already (`quote_acceptance_key`).
[[nodiscard]] semel::Result<Handled<Quote>> accept_quote(const SeenQuote& asked, semel::Work& work);

/// What else becomes of a quote that takes a step; or why it does not take it.
using Alter = std::function<std::optional<Refusal>(Quote&)>;

/// A step that needs nothing but the quote itself. It leaves the state that it is in, and with it whatever was asked of
/// approvers; event and audit tell of it, with the reason.
[[nodiscard]] semel::Result<Handled<Quote>> take_step(const Step& step, const AskedStep& asked, semel::Work& work,
                                                      const Alter& alter = {});

struct ReviseQuote {
    SeenQuote quote;
    std::optional<semel::Timestamp> valid_until{};  ///< None: as long as the policy has it, from now.
};
/// A draft of the next revision, with the same items; what was asked of approvers is withdrawn. Unacceptable if its
/// new time has passed already.
[[nodiscard]] semel::Result<Handled<Quote>> revise_quote(const ReviseQuote& asked, const QuotePolicy& policy,
                                                         semel::Work& work);

/// Notes that the time of the quote has passed; until then it counts as expired all the same. WrongState if it has not
/// passed, or was noted already.
[[nodiscard]] semel::Result<Handled<Quote>> expire_quote(const SeenQuote& asked, semel::Work& work);

}  // namespace orders
