#include "apps/orders/retention.hpp"

#include "semel/base/log.hpp"
#include "semel/inbox/retention.hpp"

namespace orders {
namespace {

/// A pass that takes longer goes on in the next one.
constexpr semel::Duration pass_limit = std::chrono::minutes(1);

void run(const std::stop_token& stop, semel::Database& database, const semel::RetentionOptions& options,
         semel::Duration every) {
    semel::Clock& clock = database.clock();
    while (clock.sleep(clock.now() + every, stop) == semel::Wake::timeout) {
        const semel::Deadline deadline = semel::Deadline::after(clock.now(), pass_limit);
        const auto replies = semel::apply_retention(database, options, deadline, stop);
        if (!replies) semel::log(semel::LogLevel::warning, "retention: " + replies.error().describe());
        const auto messages = semel::apply_inbox_retention(database, {}, deadline, stop);
        if (!messages) semel::log(semel::LogLevel::warning, "retention of messages: " + messages.error().describe());
    }
}

}  // namespace

RetentionRunner::RetentionRunner(semel::Database& database, const semel::RetentionOptions& options,
                                 semel::Duration every)
    : thread_([&database, options, every](const std::stop_token& stop) { run(stop, database, options, every); }) {}

}  // namespace orders
