#include "apps/orders/expiry.hpp"

#include "apps/orders/handlers/quote_life.hpp"
#include "apps/orders/storage/quotes.hpp"
#include "semel/base/log.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Status;
using semel::Work;

constexpr std::string_view caller = "semel-orders";
constexpr std::string_view operation = "quote.expire";
/// Small enough to be read at once; a pass goes on until it finds no more.
constexpr std::int64_t batch = 100;
constexpr semel::Duration batch_limit = std::chrono::seconds(10);

/// Nobody reads the reply; it says what was done all the same.
Result<semel::CommandDecision> expire(const OverdueQuote& overdue, Work& work) {
    const auto handled = SEMEL_TRY(expire_quote({.id = overdue.id, .version = overdue.version}, work));
    // Somebody was faster: revised, converted or expired it. Then there is nothing left to do, and nothing to keep.
    if (std::holds_alternative<Refusal>(handled)) return semel::Rejection{.reply = {.status = 409}};
    return semel::Reply{.status = 204};
}

Status expire(semel::Executor& executor, const OverdueQuote& overdue) {
    const std::string key = overdue.id.text() + ":" + std::to_string(overdue.version);
    const auto identity = SEMEL_TRY(semel::Identity::of(overdue.tenant, caller, operation, key));
    const semel::Command command{.identity = identity,
                                 .fingerprint = SEMEL_TRY(semel::fingerprint({.operation = operation})),
                                 .correlation_id = semel::new_uuid().text()};
    const auto outcome = executor.execute(
        command, [&overdue](Work& work) -> Result<semel::CommandDecision> { return expire(overdue, work); });
    if (outcome.committed()) return {};
    return semel::fail(semel::Error(outcome.error()).within("expire quote " + overdue.id.text()));
}

/// One by one: a quote that cannot be expired now does not keep those behind it waiting.
Status pass(semel::Executor& executor, const std::stop_token& stop) {
    semel::Database& database = executor.database();
    const semel::Timestamp now = database.clock().wall();
    OverdueQuote last;
    while (!stop.stop_requested()) {
        const auto overdue = SEMEL_TRY(list_overdue_quotes(
            database, semel::Deadline::after(database.clock().now(), batch_limit), now, last, batch));
        for (const OverdueQuote& quote : overdue) {
            if (stop.stop_requested()) return {};
            if (const auto done = expire(executor, quote); !done)
                semel::log(semel::LogLevel::warning, "expiry: " + done.error().describe());
        }
        if (overdue.size() < static_cast<std::size_t>(batch)) return {};
        last = overdue.back();
    }
    return {};
}

void run(const std::stop_token& stop, semel::Executor& executor, semel::Duration every) {
    semel::Clock& clock = executor.database().clock();
    while (clock.sleep(clock.now() + every, stop) == semel::Wake::timeout) {
        if (const auto done = pass(executor, stop); !done)
            semel::log(semel::LogLevel::warning, "expiry: " + done.error().describe());
    }
}

}  // namespace

ExpiryRunner::ExpiryRunner(semel::Executor& executor, semel::Duration every)
    : thread_([&executor, every](const std::stop_token& stop) { run(stop, executor, every); }) {}

}  // namespace orders
