#pragma once

#include "semel/db/transact.hpp"
#include "semel/idempotency/claim.hpp"
#include "semel/idempotency/fingerprint.hpp"
#include "semel/idempotency/identity.hpp"
#include "semel/idempotency/reply.hpp"
#include "semel/outbox/append.hpp"
#include "semel/retry/owner.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace semel {

/// One business intent, as it was asked for.
struct Command {
    Identity identity;
    Fingerprint fingerprint;
    Deadline deadline{};  ///< Of the whole execution; none: the database's.
    std::uint32_t attempt =
        1;  ///< Which attempt of the caller's this is. From the second on we look before we execute.
    RetryOwner owner = RetryOwner::here;  ///< Outer: whoever asks repeats; one attempt here.
    std::string correlation_id{};
};

/// What a handler works with. Everything it does through `tx` and `outbox` commits together with its reply, or not
/// at all. `post` costs nothing until COMMIT; a handler that only posts is one round trip in all.
struct Work {
    Transaction& tx;
    Outbox& outbox;
    const Command& command;
    const Attempt& attempt;
};

/// Whether a refusal is final.
enum class Replay : std::uint8_t {
    no,   ///< The state may change: a repeat with the same key is decided anew.
    yes,  ///< It cannot become true: store it, a repeat gets the same bytes.
};

/// A handler's refusal: nothing it did is kept, and the caller gets this reply.
struct Rejection {
    Reply reply;
    Replay replay = Replay::no;
};

/// What a handler decides. A Reply commits and is stored, whatever its status. A Rejection rolls back.
using CommandDecision = std::variant<Reply, Rejection>;
/// An Error rolls back too: a `conflict` runs the handler again on a fresh transaction, so it must read afresh
/// whatever it decides by; other faults end the command.
using Handler = std::function<Result<CommandDecision>(Work&)>;

/// A unique constraint of the business's own, and what its violation means: `decide` runs in a new transaction under
/// the same claim, sees the row that was there first, and answers with it, replays its reply, or refuses.
struct NaturalKey {
    std::string constraint;
    Handler decide;
};

/// What a repeat is told while the first is still executed.
enum class InProgress : std::uint8_t {
    refuse,  ///< That it is in progress, at once.
    wait,    ///< Its reply, if it finishes within `in_progress_wait`; else that it is in progress.
};

/// How one operation is executed.
struct CommandOptions {
    Duration retention = std::chrono::hours(24);  ///< How long its replies are kept.
    InProgress in_progress = InProgress::refuse;
    Duration in_progress_wait = std::chrono::milliseconds(300);
    TransactionOptions transaction{};
    std::vector<NaturalKey> natural_keys{};
};

/// Where an answer comes from.
enum class Standing : std::uint8_t {
    executed,  ///< This call did it; it is durable.
    replayed,  ///< It was done before; the stored reply.
    rejected,  ///< The handler refused; nothing was changed.
};

/// What the caller is told.
struct Answer {
    Reply reply;
    Standing standing = Standing::executed;
};

}  // namespace semel
