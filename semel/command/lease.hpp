#pragma once

#include "semel/base/id.hpp"
#include "semel/call/caller.hpp"
#include "semel/db/transact.hpp"
#include "semel/idempotency/record.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace semel {

/// The right to go on with one command: what every later write of it must show. The epoch grows with each taking; the
/// owner is drawn by chance, because after a lost COMMIT two might both believe in the same epoch.
struct Lease {
    Digest identity{};
    std::int64_t epoch = 0;
    Uuid owner{};
    friend bool operator==(const Lease&, const Lease&) = default;
};

/// The statements of leased and asynchronous commands in the words of one driver.
struct LeaseStatements {
    Sql claim_guard;
    Sql claim;
    Sql accept;
    Sql look;
    Sql fence;
    Sql renew;
    Sql finish;
    Sql fail_later;
    Sql yield;
    Sql reconcile;
    Sql retake;
    Sql take_due;
    Sql take_expired;
    Sql begin_run;
    Sql set_lease;
    Sql step_look;
    Sql step_store;
    Sql step_count;
    CallStatements call;

    [[nodiscard]] static Result<LeaseStatements> from(const Catalogue& catalogue);
};

/// A record as its executors see it. Times are relative to the moment it was read, by the database's clock.
struct LeaseRecord {
    CommandState state = CommandState::processing;
    Fingerprint fingerprint;
    std::int64_t epoch = 0;
    Uuid owner{};
    std::int64_t attempts = 0;
    Duration due_in{};  ///< Of one that waits for its next attempt.
};
[[nodiscard]] Result<std::optional<LeaseRecord>> look(Transaction& tx, const LeaseStatements& statements,
                                                      const Digest& identity);

/// The fingerprint in its stored form: the version byte, then the digest. What another program made matches none of
/// ours.
[[nodiscard]] Fingerprint fingerprint_from(BytesView stored) noexcept;

/// Whether an Error says that someone else took the command over.
[[nodiscard]] bool fence_lost(const Error& error) noexcept;

/// Posts the fence ahead of what follows: if the lease is no longer the one that counts, the transaction fails with
/// SM007 and nothing of it is kept. While it lasts nobody can take the command over.
void post_fence(Transaction& tx, const LeaseStatements& statements, const Lease& lease);

/// Runs `body` under the fence until it commits. After a lost COMMIT it runs again: `body` looks before it
/// writes, or writes under a key that decides.
[[nodiscard]] Outcome<> fenced(Database& database, const LeaseStatements& statements, const Lease& lease,
                               Deadline deadline, const std::function<Status(Transaction&)>& body);

/// A lease's owner: 128 bits of chance.
[[nodiscard]] Uuid new_owner(Random& random) noexcept;

/// A limit in whole milliseconds, as statements take it; rounded up.
[[nodiscard]] std::int64_t milliseconds(Duration duration) noexcept;

}  // namespace semel
