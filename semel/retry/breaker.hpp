#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace semel {

struct BreakerSpec {
    /// Opens when this share of the attempts failed …
    std::uint32_t failure_percent = 50;
    /// … out of at least this many …
    std::uint32_t attempts_min = 10;
    /// … within this long after the first failure.
    Duration window = std::chrono::seconds(10);
    /// How long it stays open before it lets probes through.
    Duration open_for = std::chrono::seconds(5);
    /// How many probes must succeed to close it; no more than that are under way at once.
    std::uint32_t probes = 2;
    /// A probe that has not come back by then is taken for lost, and another may go.
    Duration probe_limit = std::chrono::seconds(30);
};

/// What a failure says about the dependency's health.
enum class Verdict : std::uint8_t {
    healthy,  ///< It answered, even if the answer was no.
    ailing,   ///< It is away, or did not answer.
    nothing,  ///< Our own pool, queue, deadline or bug: not the dependency's doing.
};

[[nodiscard]] Verdict verdict(const Error&) noexcept;

/// Stops calling a dependency that keeps failing, and looks after a while whether it is back.
/// Decides only: time comes in, nothing waits. Thread-safe. While nothing fails, a permit and its
/// success are one atomic read each.
class Breaker {
public:
    enum class State : std::uint8_t { closed, open, half_open };

    /// Leave to make one attempt. Destroyed without a report, it comes back as if it had not been
    /// given. One that comes back too late changes nothing. Must not outlive its Breaker.
    class [[nodiscard]] Permit {
    public:
        /// No permit.
        Permit() noexcept = default;
        Permit(Permit&& other) noexcept
            : breaker_(std::exchange(other.breaker_, nullptr)), generation_(other.generation_), probe_(other.probe_) {}
        Permit& operator=(Permit&& other) noexcept {
            if (this != &other) {
                give_back();
                breaker_ = std::exchange(other.breaker_, nullptr);
                generation_ = other.generation_;
                probe_ = other.probe_;
            }
            return *this;
        }
        ~Permit() { give_back(); }

        [[nodiscard]] explicit operator bool() const noexcept { return breaker_ != nullptr; }

        /// The attempt succeeded. Consumes the permit; nothing happens without one.
        void succeeded() noexcept {
            Breaker* breaker = std::exchange(breaker_, nullptr);
            if (breaker == nullptr || breaker->calm_.load(std::memory_order_relaxed) != 0) [[likely]]
                return;
            breaker->on_success(generation_, probe_);
        }
        /// The attempt failed; the error decides whether that counts. Consumes the permit.
        void failed(const Error& error, Instant now) noexcept {
            Breaker* breaker = std::exchange(breaker_, nullptr);
            if (breaker != nullptr) breaker->on_failure(generation_, probe_, error, now);
        }

    private:
        friend Breaker;
        Permit(Breaker* breaker, std::uint64_t generation, std::uint64_t probe) noexcept
            : breaker_(breaker), generation_(generation), probe_(probe) {}
        void give_back() noexcept {
            Breaker* breaker = std::exchange(breaker_, nullptr);
            if (breaker != nullptr && probe_ != 0) breaker->on_return(generation_, probe_);
        }

        Breaker* breaker_ = nullptr;
        std::uint64_t generation_ = 0;
        std::uint64_t probe_ = 0;  // Zero for a permit of the closed state, which needs no place.
    };

    static constexpr std::uint32_t probes_max = 16;

    /// For a spec that is known to be right; asserts it.
    explicit Breaker(const BreakerSpec& spec = {});
    /// For a spec that came from outside: an Error (`rejected`) names the field that is wrong.
    [[nodiscard]] static Result<std::unique_ptr<Breaker>> create(const BreakerSpec& spec);

    /// A permit for one attempt, or none while it is open or enough probes are under way.
    [[nodiscard]] Permit acquire(Instant now) noexcept {
        const std::uint64_t generation = calm_.load(std::memory_order_relaxed);
        if (generation != 0) [[likely]]
            return Permit(this, generation, 0);
        return acquire_carefully(now);
    }
    /// Whether an attempt at that time would get a permit, as far as is known now. Takes none.
    [[nodiscard]] bool would_admit(Instant when) const noexcept;
    /// How long until it may let an attempt through; zero if it would now.
    [[nodiscard]] Duration admits_in(Instant now) const noexcept;
    [[nodiscard]] State state(Instant now) const noexcept;

    [[nodiscard]] const BreakerSpec& spec() const noexcept { return spec_; }

private:
    struct Probe {
        std::uint64_t id = 0;  // Zero: free.
        Instant expires;
    };

    [[nodiscard]] Permit acquire_carefully(Instant now) noexcept;
    void on_success(std::uint64_t generation, std::uint64_t probe) noexcept;
    void on_failure(std::uint64_t generation, std::uint64_t probe, const Error& error, Instant now) noexcept;
    void on_return(std::uint64_t generation, std::uint64_t probe) noexcept;

    // All below with the mutex held.
    [[nodiscard]] bool take_back(std::uint64_t generation, std::uint64_t probe) noexcept;
    void count_success() noexcept;
    void count_failure(Instant now) noexcept;
    void become(State state) noexcept;

    BreakerSpec spec_;
    // The generation while the breaker is closed and no failure is being watched, else zero: then
    // everything goes through the mutex.
    std::atomic<std::uint64_t> calm_{1};
    mutable std::mutex mutex_;
    State state_ = State::closed;
    std::uint64_t generation_ = 1;  // Counts the changes of state, so that late reports are known as such.
    Instant until_{};               // Open: when probes may go. Closed and watching: when the window ends.
    std::uint64_t failures_ = 0;
    std::uint64_t successes_ = 0;
    std::uint64_t last_probe_ = 0;
    std::array<Probe, probes_max> probes_{};
};

[[nodiscard]] std::string_view name(Breaker::State) noexcept;

}  // namespace semel
