#pragma once

#include "semel/db/session.hpp"
#include "semel/idempotency/fingerprint.hpp"
#include "semel/idempotency/reply.hpp"
#include "semel/idempotency/state.hpp"
#include "semel/idempotency/statements.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace semel {

/// What is stored about a command.
struct Record {
    CommandState state = CommandState::received;
    Fingerprint fingerprint;
    bool expired = false;   ///< By the database's clock, whether or not retention came by already.
    Reply reply;            ///< Of a finished one.
    Duration expires_in{};  ///< Of a finished one: for how long it will be kept.
    /// It may not be on the synchronous standby yet: nobody may be told before a barrier has passed.
    bool needs_barrier = false;
};

/// A record as someone sees it who asks by the command's id.
struct NamedRecord {
    Record record;
    std::string tenant;
    std::string caller;
    std::string operation;
    std::string key;
    std::int64_t attempts = 0;
    std::string last_error;
};

/// The record in one row of `record_look`; none in none.
[[nodiscard]] Result<std::optional<Record>> record_from(const Rows& rows);

/// By identity, on a session without a transaction: one round trip.
[[nodiscard]] Result<std::optional<Record>> look(Session& session, const Statements& statements, const Digest& identity,
                                                 Deadline deadline);
/// By the first 16 bytes of the identity (see `parse_command_id`).
[[nodiscard]] Result<std::optional<NamedRecord>> look_by_id(Session& session, const Statements& statements,
                                                            BytesView id, Deadline deadline);

}  // namespace semel
