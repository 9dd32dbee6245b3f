#include "semel/retry/breaker.hpp"

#include "semel/base/mutant.hpp"

#include <algorithm>
#include <string>

namespace semel {
namespace {

// Long enough for any operator's patience, short enough that no sum of times can overflow.
constexpr Duration time_max = std::chrono::hours(1);

Status check(const BreakerSpec& spec) {
    const auto wrong = [](std::string_view field, std::string_view allowed, auto given) {
        return fail(Fault::rejected, "circuit breaker: " + std::string(field) + " must be " + std::string(allowed) +
                                         ", not " + std::to_string(given));
    };
    const auto in_range = [](Duration time) { return time > Duration::zero() && time <= time_max; };
    if (spec.failure_percent < 1 || spec.failure_percent > 100) {
        return wrong("failure_percent", "from 1 to 100", spec.failure_percent);
    }
    if (spec.attempts_min < 1 || spec.attempts_min > 1'000'000) {
        return wrong("attempts_min", "from 1 to 1000000", spec.attempts_min);
    }
    if (spec.probes < 1 || spec.probes > Breaker::probes_max) return wrong("probes", "from 1 to 16", spec.probes);
    static constexpr std::string_view times = "more than 0 and at most an hour (in nanoseconds)";
    if (!in_range(spec.window)) return wrong("window", times, spec.window.count());
    if (!in_range(spec.open_for)) return wrong("open_for", times, spec.open_for.count());
    if (!in_range(spec.probe_limit)) return wrong("probe_limit", times, spec.probe_limit.count());
    return {};
}

/// Whether a limit of ours ran out that the dependency has no part in.
bool is_our_own(const Cause& cause) noexcept {
    switch (cause.timeout) {
        case Timeout::queue:
        case Timeout::executor:
        case Timeout::pool:
        case Timeout::lock:         // Someone else's transaction holds it; the server is well.
        case Timeout::transaction:  // Holds our own handler's time too.
        case Timeout::total: return true;
        default: break;
    }
    return cause.stop == Stop::deadline || cause.stop == Stop::stopped || cause.stop == Stop::breaker;
}

}  // namespace

std::string_view name(Breaker::State state) noexcept {
    switch (state) {
        case Breaker::State::closed: return "closed";
        case Breaker::State::open: return "open";
        case Breaker::State::half_open: return "half_open";
    }
    SEMEL_ASSERT(false && "a Breaker::State outside its enumeration");
}

Verdict verdict(const Error& error) noexcept {
    if (is_our_own(error.cause) || error.fault == Fault::broken) return Verdict::nothing;
    const bool ailing = error.fault == Fault::unavailable || error.fault == Fault::unknown;
    return ailing ? Verdict::ailing : Verdict::healthy;
}

Breaker::Breaker(const BreakerSpec& spec) : spec_(spec) { SEMEL_ASSERT(check(spec)); }

Result<std::unique_ptr<Breaker>> Breaker::create(const BreakerSpec& spec) {
    SEMEL_TRY(check(spec));
    return std::make_unique<Breaker>(spec);
}

Breaker::Permit Breaker::acquire_carefully(Instant now) noexcept {
    const std::lock_guard guard(mutex_);
    if (state_ == State::closed) {
        // A window that ended without opening the breaker is forgotten.
        if (now >= until_) calm_.store(generation_, std::memory_order_relaxed);
        return Permit(this, generation_, 0);
    }
    if (state_ == State::open) {
        if (now < until_) return {};
        become(State::half_open);
    }
    std::uint64_t under_way = 0;
    Probe* free = nullptr;
    for (Probe& probe : probes_) {
        if (probe.id != 0 && now >= probe.expires && !SEMEL_MUTANT("half_open_permit_leaked")) probe.id = 0;
        if (probe.id != 0) {
            ++under_way;
        } else {
            free = &probe;
        }
    }
    if (free == nullptr || under_way + successes_ >= spec_.probes) return {};
    *free = Probe{++last_probe_, now + spec_.probe_limit};
    return Permit(this, generation_, free->id);
}

bool Breaker::would_admit(Instant when) const noexcept { return admits_in(when) == Duration::zero(); }

Duration Breaker::admits_in(Instant now) const noexcept {
    if (calm_.load(std::memory_order_relaxed) != 0) return Duration::zero();
    const std::lock_guard guard(mutex_);
    if (state_ == State::closed) return Duration::zero();
    if (state_ == State::open) return std::max(Duration::zero(), until_ - now);
    std::uint64_t under_way = 0;
    Instant soonest = Instant::max();
    for (const Probe& probe : probes_) {
        if (probe.id == 0 || (now >= probe.expires && !SEMEL_MUTANT("half_open_permit_leaked"))) continue;
        ++under_way;
        soonest = std::min(soonest, probe.expires);
    }
    return under_way + successes_ < spec_.probes ? Duration::zero() : soonest - now;
}

Breaker::State Breaker::state(Instant now) const noexcept {
    const std::lock_guard guard(mutex_);
    return state_ == State::open && now >= until_ ? State::half_open : state_;
}

void Breaker::on_success(std::uint64_t generation, std::uint64_t probe) noexcept {
    const std::lock_guard guard(mutex_);
    if (take_back(generation, probe)) count_success();
}

void Breaker::on_failure(std::uint64_t generation, std::uint64_t probe, const Error& error, Instant now) noexcept {
    const std::lock_guard guard(mutex_);
    if (!take_back(generation, probe)) return;
    switch (verdict(error)) {
        case Verdict::healthy: return count_success();
        case Verdict::ailing: return count_failure(now);
        case Verdict::nothing: return;
    }
}

void Breaker::on_return(std::uint64_t generation, std::uint64_t probe) noexcept {
    const std::lock_guard guard(mutex_);
    if (!SEMEL_MUTANT("half_open_permit_leaked")) static_cast<void>(take_back(generation, probe));
}

/// Frees the permit's place. False if the permit is from before a change of state, or was taken
/// for lost and its place given to another.
bool Breaker::take_back(std::uint64_t generation, std::uint64_t probe) noexcept {
    if (generation != generation_) return false;
    if (probe == 0) return true;
    const auto place = std::ranges::find(probes_, probe, &Probe::id);
    if (place == probes_.end()) return false;
    place->id = 0;
    return true;
}

void Breaker::count_success() noexcept {
    if (calm_.load(std::memory_order_relaxed) != 0) return;
    ++successes_;
    if (state_ == State::half_open && successes_ >= spec_.probes) become(State::closed);
}

void Breaker::count_failure(Instant now) noexcept {
    if (state_ == State::closed) {
        const bool watching = calm_.load(std::memory_order_relaxed) == 0 && now < until_;
        if (!watching) {
            calm_.store(0, std::memory_order_relaxed);
            until_ = now + spec_.window;
            failures_ = 0;
            successes_ = 0;
        }
        ++failures_;
        const std::uint64_t attempts = failures_ + successes_;
        if (attempts < spec_.attempts_min || failures_ * 100 < attempts * spec_.failure_percent) return;
    }
    become(State::open);
    until_ = now + spec_.open_for;
}

void Breaker::become(State state) noexcept {
    state_ = state;
    ++generation_;
    failures_ = 0;
    successes_ = 0;
    probes_.fill(Probe{});
    calm_.store(state == State::closed ? generation_ : 0, std::memory_order_relaxed);
}

}  // namespace semel
