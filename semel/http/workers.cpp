#include "semel/http/workers.hpp"

#include "semel/base/log.hpp"
#include "semel/http/problem.hpp"

#include <exception>

namespace semel::http {

Response handler_failed(Core& core, const Request& request, std::string_view why) {
    Counters::up(core.counters.handler_failures);
    std::string line = "http: " + request.method + " " + request.path + ": ";
    line.append(why).append(" (correlation id ").append(request.correlation_id).append(")");
    log(LogLevel::error, line);
    return Problem(problems::internal_error, "The failure was recorded under the correlation id.")
        .to_response(request.correlation_id);
}

namespace {

/// The one place that runs a caller's code, and so the one that catches.
template <class Answer, class Run>
Answer guarded(Core& core, const Request& request, const Run& run) {
    try {
        return run();
    } catch (const std::exception& failure) {
        return handler_failed(core, request, failure.what());
    } catch (...) {
        return handler_failed(core, request, "the handler threw something that is no exception");
    }
}

}  // namespace

Response run_handler(Core& core, const Route& route, Request& request) {
    return guarded<Response>(core, request, [&] { return route.handle(request); });
}

std::optional<Response> run_at_once(Core& core, const Route& route, Request& request) {
    return guarded<std::optional<Response>>(core, request, [&] { return route.at_once(request); });
}

Workers::Workers(Core& core) : core_(core) {
    for (std::size_t i = 0; i < core.options.workers; ++i) {
        threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
}

Workers::~Workers() {
    for (std::jthread& thread : threads_) thread.request_stop();
}

void Workers::submit(std::shared_ptr<Exchange> exchange) {
    {
        const std::lock_guard guard(mutex_);
        queue_.push_back(std::move(exchange));
        core_.queued.store(queue_.size(), std::memory_order_relaxed);
    }
    ready_.notify_one();
}

void Workers::work(const std::stop_token& stop) {
    for (;;) {
        std::shared_ptr<Exchange> exchange;
        {
            std::unique_lock lock(mutex_);
            if (!ready_.wait(lock, stop, [this] { return !queue_.empty(); }) || stop.stop_requested()) return;
            exchange = std::move(queue_.front());
            queue_.pop_front();
            core_.busy.fetch_add(1, std::memory_order_relaxed);
            core_.queued.store(queue_.size(), std::memory_order_relaxed);
        }
        if (!exchange->settle(Exchange::Progress::begun)) {
            core_.busy.fetch_sub(1, std::memory_order_relaxed);
            continue;
        }
        const Instant started = core_.clock.now();
        if (exchange->request.retry.deadline.passed(started)) {
            exchange->end = Exchange::End::late;
        } else {
            exchange->response = run_handler(core_, *exchange->route, exchange->request);
            exchange->end = Exchange::End::handled;
            core_.load.on_served(core_.clock.now() - started);
        }
        core_.busy.fetch_sub(1, std::memory_order_relaxed);
        exchange->done();
    }
}

}  // namespace semel::http
