#pragma once

#include "semel/outbox/status.hpp"
#include "semel/relay/runner.hpp"
#include "semel/sink/sink.hpp"

#include <mutex>
#include <optional>

namespace semel::app {

/// Passes everything on, and remembers why the last batch was not taken whole.
class ObservedSink final : public Sink {
public:
    explicit ObservedSink(Sink& sink) : sink_(&sink) {}
    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;
    /// Nothing if the last batch was taken. Thread-safe.
    [[nodiscard]] std::optional<Error> trouble() const;

private:
    Sink* sink_;
    mutable std::mutex mutex_;
    std::optional<Error> trouble_;
};

/// Tells the log how a relay is doing: a line when something has changed since the last one, else nothing.
class RelayProgress {
public:
    RelayProgress(Database& database, const ObservedSink& sink);
    void tell(const RelayReport& report);

private:
    Database* database_;
    const ObservedSink* sink_;
    Instant last_;
    std::uint64_t acknowledged_ = 0;
    std::int64_t pending_ = 0;
    std::string trouble_;
};

}  // namespace semel::app
