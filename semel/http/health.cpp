#include "semel/http/health.hpp"

#include "semel/http/problem.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

namespace semel::http {
namespace {

Response fine() {
    return {.status = 200, .headers = {{"Content-Type", "text/plain"}, {"Cache-Control", "no-store"}}, .body = "ok\n"};
}

Response not_ready(const Request& request, std::string why) {
    return Problem(problems::not_ready, std::move(why))
        .with_header("Cache-Control", "no-store")
        .with_retry_after(std::chrono::seconds(1))
        .to_response(request.correlation_id);
}

}  // namespace

struct Health::State {
    State(HealthOptions options_given, Clock& clock_given) : options(std::move(options_given)), clock(clock_given) {}

    /// The answer without asking anyone: draining, nothing to ask, or asked a moment ago.
    [[nodiscard]] std::optional<Response> known(const Request& request) {
        if (draining.load(std::memory_order_relaxed)) return not_ready(request, "The server is being stopped.");
        if (!options.ready) return fine();
        const std::lock_guard guard(mutex);
        if (clock.now() >= believed_until) return std::nullopt;
        return answer(request);
    }

    /// Asks. Concurrent probes ask once: who comes second finds the first one's answer.
    [[nodiscard]] Response ask(const Request& request) {
        const std::lock_guard one_at_a_time(asking);
        if (auto answered = known(request)) return *std::move(answered);
        const Instant now = clock.now();
        Status status = options.ready(request.retry.deadline.within(now, options.check_limit));
        const std::lock_guard guard(mutex);
        ready = status.has_value();
        believed_until = clock.now() + options.keep;
        return answer(request);
    }

    /// With the mutex held. The reason stays here: it may name hosts and users.
    [[nodiscard]] Response answer(const Request& request) const {
        return ready ? fine() : not_ready(request, "What this server depends on is not available.");
    }

    HealthOptions options;
    Clock& clock;
    std::atomic<bool> draining{false};
    std::mutex asking;
    std::mutex mutex;
    bool ready = false;
    Instant believed_until{};
};

Health::Health(HealthOptions options, Clock& clock) : state_(std::make_shared<State>(std::move(options), clock)) {}

void Health::add_to(Router& router) const {
    router.add("GET", "/livez", {.at_once = [](Request&) -> std::optional<Response> { return fine(); }, .open = true});
    router.add("GET", "/readyz",
               {.handle = [state = state_](Request& request) { return state->ask(request); },
                .at_once = [state = state_](Request& request) { return state->known(request); },
                .open = true});
}

void Health::drain() noexcept { state_->draining.store(true, std::memory_order_relaxed); }

}  // namespace semel::http
