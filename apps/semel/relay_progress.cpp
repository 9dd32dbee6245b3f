#include "apps/semel/relay_progress.hpp"

#include "semel/base/log.hpp"

#include <fmt/format.h>

namespace semel::app {
namespace {

/// A store that is slow to count is not asked longer than a person waits for the next line.
constexpr Duration count_limit = std::chrono::seconds(5);

}  // namespace

std::vector<Status> ObservedSink::publish(std::span<const Message> messages, Deadline deadline) {
    auto answers = sink_->publish(messages, deadline);
    std::optional<Error> trouble;
    for (const Status& one : answers)
        if (!one && !trouble) trouble = one.error();
    const std::lock_guard guard(mutex_);
    trouble_ = std::move(trouble);
    return answers;
}

std::optional<Error> ObservedSink::trouble() const {
    const std::lock_guard guard(mutex_);
    return trouble_;
}

RelayProgress::RelayProgress(Database& database, const ObservedSink& sink)
    : database_(&database), sink_(&sink), last_(database.clock().now()) {}

void RelayProgress::tell(const RelayReport& report) {
    const Instant now = database_->clock().now();
    const auto status = outbox_status(*database_, Deadline::after(now, count_limit));
    if (!status) return log(LogLevel::warning, "relay: " + status.error().describe());
    const auto trouble = sink_->trouble();
    const std::string reason = trouble ? trouble->describe() : std::string();
    if (report.acknowledged == acknowledged_ && status->pending == pending_ && reason == trouble_) return;
    const double seconds = std::max(1e-3, std::chrono::duration<double>(now - last_).count());
    std::string line = fmt::format("relay: {:.0f} events/s, {} acknowledged, {} pending, {} parked, {} partitions",
                                   static_cast<double>(report.acknowledged - acknowledged_) / seconds,
                                   report.acknowledged, status->pending, status->parked, report.partitions);
    if (trouble) line.append("; last trouble: ").append(reason);
    log(trouble ? LogLevel::warning : LogLevel::info, line);
    last_ = now;
    acknowledged_ = report.acknowledged;
    pending_ = status->pending;
    trouble_ = reason;
}

}  // namespace semel::app
