#include "apps/orders/handlers/quote_life.hpp"

#include "apps/orders/handlers/change.hpp"
#include "apps/orders/handlers/quote_events.hpp"
#include "apps/orders/storage/approvals.hpp"
#include "apps/orders/storage/quotes.hpp"

#include <utility>

namespace orders {
namespace {

using semel::Result;
using semel::Work;

const std::string& tenant_of(const Work& work) { return work.command.identity.tenant(); }
const std::string& caller_of(const Work& work) { return work.command.identity.caller(); }

semel::Timestamp now() { return semel::system_clock().wall(); }

std::optional<Refusal> decided_already(const Quote& quote) {
    if (quote.decided_by_command.empty()) return std::nullopt;
    return Duplicate{.kind = "decision",
                     .existing = quote.decided_by_command,
                     .detail = "You have decided on this revision of the quote already."};
}

std::optional<Refusal> accepted_already(const Quote& quote) {
    if (quote.accepted_by_command.empty()) return std::nullopt;
    return Duplicate{.kind = "acceptance",
                     .existing = quote.accepted_by_command,
                     .detail = "This revision of the quote was accepted already."};
}

/// The quote takes the step: its new state, one version on. Returns the state before.
std::string advance(Quote& quote, const Step& step) {
    quote.version += 1;
    return std::exchange(quote.state, std::string(step.to));
}

/// The last posts of every handler here. The inserts go before them: whoever loses a race is told by a key or by the
/// version, and reads again either way.
void write(Work& work, const Step& step, std::string_view from, const Quote& quote, std::string payload,
           std::string reason = {}) {
    update_quote(work.tx, tenant_of(work), quote);
    record(work, {.kind = "quote",
                  .id = quote.id,
                  .event = step.event,
                  .from = from,
                  .to = quote.state,
                  .version = quote.version,
                  .payload = std::move(payload),
                  .reason = std::move(reason)});
}

/// The pending approval, if there is one, comes to its end.
void close_approval(Work& work, Quote& quote, std::string_view state) {
    if (!quote.approval) return;
    quote.approval->state = state;
    update_pending_approval(work.tx, tenant_of(work), *quote.approval);
    quote.approval.reset();
}

void write_decision(Work& work, const Quote& quote, std::string_view decision, const std::string& reason) {
    insert_decision(work.tx, tenant_of(work), quote.id,
                    {.revision = quote.revision,
                     .approver = caller_of(work),
                     .decision = std::string(decision),
                     .reason = reason,
                     .command_id = work.command.identity.command_id(),
                     .decided_at = now()});
}

/// The quote leaves the state that it is in, and with it whatever was asked of approvers.
void leave(Work& work, Quote& quote, const Step& step, const std::string& reason = {}) {
    close_approval(work, quote, approval_state::withdrawn);
    const std::string from = advance(quote, step);
    write(work, step, from, quote, quote_step_payload(quote, reason), reason);
}

/// Time has made the quote what it is, and nobody has noted that yet: that comes first, as a step of its own.
void note_expiry(Work& work, Quote& quote) {
    quote.state = std::exchange(quote.state_on_record, {});
    leave(work, quote, quote_step::expire);
}

}  // namespace

Result<Handled<Quote>> submit_quote(const SeenQuote& asked, const QuotePolicy& policy, Work& work) {
    auto ready = SEMEL_TRY(quote_for(quote_step::submit, asked, work));
    if (std::holds_alternative<Refusal>(ready)) return ready;
    auto& quote = std::get<Quote>(ready);
    if (quote.items.empty())
        return Refusal(WrongState{.kind = "quote",
                                  .state = quote.state,
                                  .version = quote.version,
                                  .needed = "a DRAFT with at least one item"});
    if (quote.approval)
        return Refusal(Duplicate{.kind = "approval",
                                 .existing = quote.approval->id.text(),
                                 .detail = "An approval of this revision of the quote pends already."});
    const std::int64_t needed = policy.approvals_for(quote.sums.gross);
    if (needed == 0) {
        const std::string from = advance(quote, quote_step::submit_unasked);
        write(work, quote_step::submit_unasked, from, quote, quote_approved_payload(quote));
        return ready;
    }
    quote.approval =
        Approval{.id = semel::new_uuid(), .revision = quote.revision, .needed = needed, .created_at = now()};
    insert_approval(work.tx, tenant_of(work), quote.id, *quote.approval);
    const std::string from = advance(quote, quote_step::submit);
    write(work, quote_step::submit, from, quote, quote_submitted_payload(quote));
    return ready;
}

Result<Handled<Quote>> approve_quote(const AskedStep& asked, Work& work) {
    auto ready = SEMEL_TRY(quote_for(quote_step::approve, asked.quote, work, decided_already));
    if (std::holds_alternative<Refusal>(ready)) return ready;
    auto& quote = std::get<Quote>(ready);
    if (!quote.approval) return semel::fail(semel::Fault::broken, "a submitted quote has no approval that pends");
    write_decision(work, quote, decision_word::approve, asked.reason);
    quote.approval->granted += 1;
    if (quote.approval->granted < quote.approval->needed) {
        update_pending_approval(work.tx, tenant_of(work), *quote.approval);
        const std::string from = advance(quote, quote_step::approve_partly);
        write(work, quote_step::approve_partly, from, quote, quote_approval_granted_payload(quote, caller_of(work)),
              asked.reason);
        return ready;
    }
    close_approval(work, quote, approval_state::granted);
    const std::string from = advance(quote, quote_step::approve);
    write(work, quote_step::approve, from, quote, quote_approved_payload(quote, caller_of(work)), asked.reason);
    return ready;
}

Result<Handled<Quote>> reject_quote(const AskedStep& asked, Work& work) {
    auto ready = SEMEL_TRY(quote_for(quote_step::reject, asked.quote, work, decided_already));
    if (std::holds_alternative<Refusal>(ready)) return ready;
    auto& quote = std::get<Quote>(ready);
    write_decision(work, quote, decision_word::reject, asked.reason);
    close_approval(work, quote, approval_state::rejected);
    const std::string from = advance(quote, quote_step::reject);
    write(work, quote_step::reject, from, quote, quote_rejected_payload(quote, caller_of(work), asked.reason),
          asked.reason);
    return ready;
}

Result<Handled<Quote>> accept_quote(const SeenQuote& asked, Work& work) {
    auto ready = SEMEL_TRY(quote_for(quote_step::accept, asked, work, accepted_already));
    if (std::holds_alternative<Refusal>(ready)) return ready;
    auto& quote = std::get<Quote>(ready);
    insert_acceptance(work.tx, tenant_of(work), quote.id,
                      {.revision = quote.revision,
                       .accepted_by = caller_of(work),
                       .command_id = work.command.identity.command_id(),
                       .accepted_at = now()});
    const std::string from = advance(quote, quote_step::accept);
    write(work, quote_step::accept, from, quote, quote_accepted_payload(quote, caller_of(work)));
    return ready;
}

Result<Handled<Quote>> take_step(const Step& step, const AskedStep& asked, Work& work, const Alter& alter) {
    auto ready = SEMEL_TRY(quote_for(step, asked.quote, work));
    if (std::holds_alternative<Refusal>(ready)) return ready;
    auto& quote = std::get<Quote>(ready);
    if (!quote.state_on_record.empty()) note_expiry(work, quote);
    if (alter) {
        if (auto refusal = alter(quote)) return *std::move(refusal);
    }
    leave(work, quote, step, asked.reason);
    return ready;
}

Result<Handled<Quote>> revise_quote(const ReviseQuote& asked, const QuotePolicy& policy, Work& work) {
    const auto next_revision = [&](Quote& quote) -> std::optional<Refusal> {
        const auto valid_until = policy.standing(asked.valid_until, now());
        if (const auto* refusal = std::get_if<Refusal>(&valid_until)) return *refusal;
        quote.revision += 1;
        quote.valid_until = std::get<semel::Timestamp>(valid_until);
        return std::nullopt;
    };
    return take_step(quote_step::revise, {.quote = asked.quote}, work, next_revision);
}

Result<Handled<Quote>> expire_quote(const SeenQuote& asked, Work& work) {
    auto found = SEMEL_TRY(load_quote(work.tx, tenant_of(work), asked.id));
    if (!found) return Refusal(NoSuch{"quote"});
    Quote& quote = *found;
    if (auto refusal = obstacle(quote_step::expire, quote.snapshot(), asked.version)) return *std::move(refusal);
    if (quote.state_at(now()) != quote_state::expired)
        return Refusal(
            WrongState{.kind = "quote", .state = quote.state, .version = quote.version, .needed = "past its time"});
    leave(work, quote, quote_step::expire);
    return quote;
}

}  // namespace orders
