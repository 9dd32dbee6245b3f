#pragma once

#include "semel/base/outcome.hpp"
#include "semel/sqlite/connection.hpp"
#include "semel/sqlite/posted.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>

namespace semel::sqlite {

/// One transaction on its way through the writer. Its session fills it in and owns it; while it is
/// queued, running or joined the writer's mutex guards it.
struct Member {
    enum class Kind : std::uint8_t {
        job,   ///< Only posted: whoever leads executes it whole.
        turn,  ///< Waits for answers in between: its own thread executes it.
    };
    enum class Stage : std::uint8_t {
        idle,      ///< The writer knows nothing of it.
        queued,    ///< Waits to begin.
        running,   ///< Inside its savepoint.
        joined,    ///< Done; waits for the group's COMMIT.
        answered,  ///< `answer` tells.
    };
    /// What became of the group, for someone who only looked.
    enum class Ground : std::uint8_t {
        stood,  ///< What was read is committed.
        lost,   ///< What was read has been undone.
    };

    Kind kind = Kind::job;
    Stage stage = Stage::idle;
    Posted work;  ///< What to execute, or to execute before COMMIT.
    Limits limits;
    bool alone = false;            ///< Shares its COMMIT with nobody: it may destroy a group.
    bool reclaimed = false;        ///< Its turn was taken back.
    bool rolled_back = false;      ///< By its own wish; it only waits to learn what it stood on.
    std::optional<Error> refused;  ///< Its own failure, told once the group's fate is known.
    Outcome<> answer = Committed<void>{};
    Ground ground = Ground::stood;
    /// Shared, so that it can be notified after the mutex was released and the member is gone.
    std::shared_ptr<std::condition_variable_any> wake = std::make_shared<std::condition_variable_any>();
};

}  // namespace semel::sqlite
