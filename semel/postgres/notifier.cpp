#include "semel/postgres/notifier.hpp"

#include "semel/base/log.hpp"
#include "semel/postgres/listener.hpp"
#include "semel/postgres/plain.hpp"
#include "semel/postgres/search.hpp"

#include <utility>

namespace semel::postgres {
namespace {

/// Longest wait for the server; a ring that is late is of no use.
constexpr Duration notify_limit = std::chrono::seconds(5);
/// Rings that come sooner after one another than this go out as one.
constexpr Duration notify_gap = std::chrono::milliseconds(2);
/// Before a server that could not be reached is tried again.
constexpr Duration pause_when_away = std::chrono::seconds(1);

}  // namespace

Result<std::unique_ptr<Notifier>> Notifier::create(ConnectOptions options, Clock& clock) {
    ConnectionString target = SEMEL_TRY(parse_connection_string(options.connection));
    return std::unique_ptr<Notifier>(new Notifier(std::move(options), std::move(target), clock));
}

Notifier::Notifier(ConnectOptions options, ConnectionString target, Clock& clock)
    : options_(std::move(options)), target_(std::move(target)), clock_(&clock) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Notifier::~Notifier() = default;

void Notifier::ring() {
    const std::lock_guard guard(mutex_);
    if (std::exchange(ringing_, true)) return;
    rung_.notify_one();
}

bool Notifier::await_ring(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const bool rung = rung_.wait(lock, stop, [this] { return ringing_; });
    ringing_ = false;
    return rung;
}

void Notifier::run(const std::stop_token& stop) {
    ConnectionHandle connection;
    while (await_ring(stop) && !stop.stop_requested()) {
        const Deadline deadline = Deadline::after(clock_->now(), notify_limit);
        Status sent;
        if (!connection) {
            auto reached = reach_server(target_, options_, *clock_, deadline);
            if (reached)
                connection = *std::move(reached);
            else
                sent = fail(std::move(reached).error());
        }
        if (connection) {
            const auto answer = run_plain(connection.get(), notify_statement, *clock_, deadline);
            if (!answer) sent = fail(answer.error());
        }
        if (!sent) {
            connection.reset();
            log(LogLevel::debug, "notify: relays will look by themselves: " + sent.error().describe());
        }
        std::ignore = clock_->sleep(clock_->now() + (sent ? notify_gap : pause_when_away), stop);
    }
}

}  // namespace semel::postgres
