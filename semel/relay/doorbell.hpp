#pragma once

#include "semel/base/time.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace semel {

/// Tells a relay that something was appended, so that it need not wait for its next look. Only a hint: a ring may be
/// missed or come for nothing, and the relay looks by itself all the same. Thread-safe.
class Doorbell {
public:
    virtual ~Doorbell() = default;
    /// How often it has rung.
    [[nodiscard]] virtual std::uint64_t rings() const = 0;
    /// Returns when it has rung more often than `heard`, at `until`, or when stopped.
    virtual void wait(std::uint64_t heard, Instant until, const std::stop_token& stop) = 0;
};

/// Within one process.
class LocalDoorbell final : public Doorbell {
public:
    explicit LocalDoorbell(Clock& clock = system_clock()) : clock_(&clock) {}

    /// After the commit: what is not visible yet need not be looked for.
    void ring();
    [[nodiscard]] std::uint64_t rings() const override;
    void wait(std::uint64_t heard, Instant until, const std::stop_token& stop) override;

private:
    Clock* clock_;
    mutable std::mutex mutex_;
    std::condition_variable_any rung_;
    std::uint64_t rings_ = 0;
};

}  // namespace semel
