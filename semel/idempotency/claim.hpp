#pragma once

#include "semel/base/digest.hpp"
#include "semel/db/transaction.hpp"
#include "semel/idempotency/fingerprint.hpp"
#include "semel/idempotency/identity.hpp"
#include "semel/idempotency/record.hpp"
#include "semel/idempotency/statements.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace semel {

/// What a claim came to.
enum class ClaimVerdict : std::uint8_t {
    execute,               ///< Nobody did, and nobody else does.
    in_progress,           ///< Someone does right now.
    replay,                ///< It was done: give the stored reply.
    mismatch,              ///< The key belongs to another request.
    expired,               ///< It was done so long ago that the reply is gone.
    needs_reconciliation,  ///< It was begun and a person must settle it.
};
[[nodiscard]] std::string_view name(ClaimVerdict) noexcept;

/// The verdict that a failure of a claim stands for; none if it failed for another reason. A violated primary
/// key of the record counts as `in_progress`: look again, it is there by now.
[[nodiscard]] std::optional<ClaimVerdict> verdict_of(const Error& error) noexcept;
/// By the same table, from a record that was read.
[[nodiscard]] ClaimVerdict verdict_of(const Record& found, const Fingerprint& asked) noexcept;
/// The same, or to execute where there is none.
[[nodiscard]] ClaimVerdict verdict_of(const std::optional<Record>& found, const Fingerprint& asked) noexcept;
/// An Error (`rejected`) that says so; `verdict_of` reads it back.
[[nodiscard]] Error refusal(ClaimVerdict verdict);

/// One command's right to execute, as the statements that ask for it. Lives as long as the transactions that
/// carry it.
class Claim {
public:
    Claim(const Statements& statements, const Identity& identity, const Fingerprint& fingerprint);

    /// Guards a transaction that may wait before it commits: lock and lookup travel ahead of its first
    /// statement, and raise unless the verdict is to execute.
    void open(Transaction& tx) const;
    /// The same without the lookup, for transactions above READ COMMITTED: there the lookup would take predicate
    /// locks on pages that strangers use, and fail them. Whoever uses it has looked before, and looks again after.
    void open_locking_only(Transaction& tx) const;

    /// Stores the reply in the transaction's last flush. If it has waited for nothing yet, everything goes out
    /// in one flush with COMMIT: lock and record go ahead, the record's primary key is the lookup, and a lost
    /// answer can only be settled by running again.
    [[nodiscard]] Status finish(Transaction& tx, CommandState state, const Reply& reply, Duration retention) const;

    /// In a transaction of its own: waits until nobody executes the command, then looks. Absence is final for
    /// everyone whose claim had been answered before.
    [[nodiscard]] Result<std::optional<Record>> wait_and_look(Transaction& tx) const;

    [[nodiscard]] const Identity& identity() const noexcept { return *identity_; }
    [[nodiscard]] const Fingerprint& fingerprint() const noexcept { return fingerprint_; }
    /// As stored: the version byte, then the digest.
    [[nodiscard]] BytesView stored_fingerprint() const noexcept { return stored_; }

private:
    const Statements* statements_;
    const Identity* identity_;
    Fingerprint fingerprint_;
    std::array<std::byte, 33> stored_;
};

}  // namespace semel
