#pragma once

#include "semel/command/leased_executor.hpp"

#include <optional>

namespace semel::detail {

/// A command's record as repeats see it and as executors see it, read at once.
struct Seen {
    std::optional<Record> record;
    LeaseRecord lease;
};
[[nodiscard]] Result<Seen> see(LeasedExecutor& executor, const Digest& identity, Deadline deadline);

/// The stored reply, once it is certain that it stays.
[[nodiscard]] Outcome<Answer> answer_with(LeasedExecutor& executor, const Command& command, const Record& record,
                                          Standing standing);

/// How long to wait before run number `attempts` + 1.
[[nodiscard]] Duration delay_after(std::int64_t attempts, const PolicySpec& spec, bool throttled, Random& random);

}  // namespace semel::detail
