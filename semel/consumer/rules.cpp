#include "semel/consumer/rules.hpp"

namespace semel {

Status check(const ConsumerRules& rules) {
    constexpr std::size_t workers_max = 1024;
    constexpr std::size_t held_limit = 100'000;
    const auto refuse = [](std::string message) { return fail(Fault::rejected, "consumer: " + std::move(message)); };
    if (rules.workers < 1 || rules.workers > workers_max) return refuse("workers must be from 1 to 1,024");
    if (rules.held_max < rules.workers || rules.held_max > held_limit)
        return refuse("held_max must be from the number of workers to 100,000");
    if (rules.attempts_max < 1) return refuse("attempts_max must be at least 1");
    if (rules.poll <= Duration::zero()) return refuse("poll must be more than zero");
    if (rules.redrive_poll <= Duration::zero()) return refuse("redrive_poll must be more than zero");
    SEMEL_TRY(Policy::create(rules.backoff));
    return {};
}

bool blames_message(const Error& error) noexcept {
    // A race that was lost again and again, each time on a fresh transaction, was lost by the handler's own doing.
    return error.fault == Fault::rejected || error.fault == Fault::broken || error.fault == Fault::conflict;
}

bool stops_everything(const Error& error) noexcept {
    // A lost race, or a lock that someone else holds, is a matter of this message and that one.
    if (error.cause.timeout == Timeout::lock) return false;
    return error.fault == Fault::unavailable || error.fault == Fault::throttled || error.fault == Fault::unknown;
}

}  // namespace semel
