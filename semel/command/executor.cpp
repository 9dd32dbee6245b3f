#include "semel/command/executor.hpp"

#include "semel/command/execution.hpp"

#include <algorithm>

namespace semel {

Executor::Executor(Database& database, const ExecutorOptions& options, const Statements& statements,
                   const AppendStatements& append)
    : database_(&database),
      options_(options),
      statements_(statements),
      append_(append),
      barrier_(database, statements),
      cache_(options.cache_bytes, database.clock()) {}

Result<std::unique_ptr<Executor>> Executor::create(Database& database, const ExecutorOptions& options) {
    const Statements statements = SEMEL_TRY(Statements::from(database.catalogue()));
    const AppendStatements append = SEMEL_TRY(AppendStatements::from(database.catalogue()));
    return std::unique_ptr<Executor>(new Executor(database, options, statements, append));
}

Outcome<Answer> Executor::run(const Command& command, const CommandOptions& options, const Handler& handler) {
    return detail::Execution(*this, command, options, handler).run();
}

void Executor::remember(const Command& command, const Reply& reply, Duration keep_for) {
    if (options_.cache_bytes == 0) return;
    Reply kept = reply;
    // As it is stored: what was meant for one moment alone is not given to a repeat.
    std::erase_if(kept.headers, [](const ReplyHeader& header) { return !replayable_header(header.name); });
    cache_.put(command.identity.digest(), command.fingerprint, std::make_shared<const Reply>(std::move(kept)),
               std::min(keep_for, options_.cache_time));
}

Result<std::optional<NamedRecord>> Executor::look_up(std::string_view command_id, Deadline deadline) {
    const Bytes id = SEMEL_TRY(parse_command_id(command_id));
    std::optional<NamedRecord> found;
    {
        auto loan = SEMEL_TRY(database_->pool().acquire(deadline));
        found = SEMEL_TRY(look_by_id(*loan, statements_, id, deadline));
    }
    if (found && found->record.needs_barrier) SEMEL_TRY(barrier_.pass(deadline));
    return found;
}

}  // namespace semel
