#include "semel/idempotency/claim.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/mutant.hpp"
#include "semel/db/own_code.hpp"

#include <algorithm>

namespace semel {
namespace {

constexpr std::string_view record_key = "semel_command_record_pkey";

/// In the order of the enumeration; to execute is no failure and has no code.
constexpr std::array<std::string_view, 6> codes{"", "SM001", "SM002", "SM003", "SM004", "SM005"};
constexpr std::array<std::string_view, 6> names{"execute",  "in_progress", "replay",
                                                "mismatch", "expired",     "needs_reconciliation"};

}  // namespace

std::string_view name(ClaimVerdict verdict) noexcept { return names.at(static_cast<std::size_t>(verdict)); }

std::optional<ClaimVerdict> verdict_of(const Error& error) noexcept {
    if (error.cause.constraint == record_key) return ClaimVerdict::in_progress;
    for (std::size_t i = 1; i < codes.size(); ++i)
        if (error.cause.code == codes[i]) return static_cast<ClaimVerdict>(i);
    return std::nullopt;
}

ClaimVerdict verdict_of(const Record& found, const Fingerprint& asked) noexcept {
    if (found.fingerprint != asked && !SEMEL_MUTANT("replay_without_fingerprint")) return ClaimVerdict::mismatch;
    if (found.expired) return ClaimVerdict::expired;
    if (finished(found.state)) return ClaimVerdict::replay;
    if (found.state == CommandState::needs_reconciliation) return ClaimVerdict::needs_reconciliation;
    return ClaimVerdict::in_progress;
}

ClaimVerdict verdict_of(const std::optional<Record>& found, const Fingerprint& asked) noexcept {
    return found ? verdict_of(*found, asked) : ClaimVerdict::execute;
}

Error refusal(ClaimVerdict verdict) {
    SEMEL_ASSERT(verdict != ClaimVerdict::execute);
    const OwnCode* own = own_code(codes.at(static_cast<std::size_t>(verdict)));
    Error error;
    error.fault = own->fault;
    error.message = own->message;
    error.cause.code = own->code;
    return error;
}

Claim::Claim(const Statements& statements, const Identity& identity, const Fingerprint& fingerprint)
    : statements_(&statements), identity_(&identity), fingerprint_(fingerprint), stored_{} {
    stored_[0] = static_cast<std::byte>(fingerprint.version);
    std::ranges::copy(fingerprint.digest, stored_.begin() + 1);
}

void Claim::open(Transaction& tx) const {
    tx.open_with(statements_->claim_guard, BytesView(identity_->digest()), identity_->lock(), BytesView(stored_));
}

void Claim::open_locking_only(Transaction& tx) const { tx.open_with(statements_->claim_lock, identity_->lock()); }

Status Claim::finish(Transaction& tx, CommandState state, const Reply& reply, Duration retention) const {
    SEMEL_ASSERT(finished(state));
    // What cannot be sent must not be promised.
    if (reply.status < 200 || reply.status > 599)
        return fail(Fault::broken, "a reply's status is 200 to 599, not " + std::to_string(reply.status));
    const std::string headers = SEMEL_TRY(encode_headers(reply.headers));
    const std::int64_t kept = std::chrono::ceil<std::chrono::milliseconds>(retention).count();
    const auto store = [&](auto&& queue) {
        queue(statements_->record_finish, BytesView(identity_->digest()), BytesView(stored_), name(state),
              identity_->tenant(), identity_->caller(), identity_->operation(), identity_->key(), reply.status, headers,
              bytes_of(reply.body), kept);
    };
    SEMEL_FAILPOINT("claim.before_finish");
    if (tx.sent()) {
        store([&tx](const auto&... values) { tx.post(values...); });
        return {};
    }
    store([&tx](const auto&... values) { tx.post_ahead(values...); });
    tx.post_ahead(statements_->claim_lock, identity_->lock());
    if (!SEMEL_MUTANT("absence_believed_after_one_flush")) tx.settle_by_rerun();
    return {};
}

Result<std::optional<Record>> Claim::wait_and_look(Transaction& tx) const {
    if (!SEMEL_MUTANT("resolved_without_lock")) tx.post(statements_->claim_wait, identity_->lock());
    const Rows rows = SEMEL_TRY(tx.execute(statements_->record_look, BytesView(identity_->digest())));
    return record_from(rows);
}

}  // namespace semel
