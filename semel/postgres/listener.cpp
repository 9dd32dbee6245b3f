#include "semel/postgres/listener.hpp"

#include "semel/base/log.hpp"
#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/plain.hpp"
#include "semel/postgres/search.hpp"

#include <libpq-fe.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace semel::postgres {
namespace {

constexpr Duration listen_limit = std::chrono::seconds(5);
/// Before it is tried again when it failed.
constexpr Duration pause_after_break = std::chrono::seconds(1);
constexpr Duration pause_when_deaf = std::chrono::minutes(1);
/// A connection that was silent for this long is asked whether it still stands.
constexpr Duration longest_silence = std::chrono::seconds(30);

struct FreeNotify {
    void operator()(PGnotify* notice) const noexcept { PQfreemem(notice); }
};
using NotifyHandle = std::unique_ptr<PGnotify, FreeNotify>;

Error deaf() {
    Error error;
    error.fault = Fault::rejected;
    error.message = "LISTEN succeeded, but nothing that is sent arrives";
    error.cause.hint =
        "a pooler in transaction mode loses it: give the relay a direct connection; without one relays still look by "
        "themselves at every interval";
    return error;
}

}  // namespace

Status check_listening(PGconn* listening, const ConnectionString& target, const ConnectOptions& options, Clock& clock,
                       Deadline deadline) {
    SEMEL_TRY(run_plain(listening, "LISTEN semel_outbox", clock, deadline));
    const ConnectionHandle other = SEMEL_TRY(reach_server(target, options, clock, deadline));
    SEMEL_TRY(run_plain(other.get(), notify_statement, clock, deadline));
    while (PQconsumeInput(listening) == 1) {
        if (const NotifyHandle notice{PQnotifies(listening)}) return {};
        if (!readable(listening, -1, clock, deadline)) return fail(deaf());
    }
    return fail(lost_connection(PQerrorMessage(listening), Phase::transaction));
}

Status check_listening(const ConnectOptions& options, Clock& clock, Deadline deadline) {
    const ConnectionString target = SEMEL_TRY(parse_connection_string(options.connection));
    const ConnectionHandle listening = SEMEL_TRY(reach_server(target, options, clock, deadline));
    return check_listening(listening.get(), target, options, clock, deadline);
}

Result<std::unique_ptr<Listener>> Listener::start(ConnectOptions options, std::function<void()> heard, Clock& clock) {
    ConnectionString target = SEMEL_TRY(parse_connection_string(options.connection));
    return std::unique_ptr<Listener>(new Listener(std::move(options), std::move(target), std::move(heard), clock));
}

Listener::Listener(ConnectOptions options, ConnectionString target, std::function<void()> heard, Clock& clock)
    : options_(std::move(options)),
      target_(std::move(target)),
      heard_(std::move(heard)),
      clock_(&clock),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Listener::~Listener() {
    thread_.request_stop();
    static_cast<void>(::eventfd_write(wake_, 1));
    thread_.join();
    if (wake_ >= 0) ::close(wake_);
}

void Listener::run(const std::stop_token& stop) {
    std::string said;
    while (!stop.stop_requested()) {
        const Status listened = listen(stop);
        hears_ = false;
        if (listened) said.clear();
        const bool for_good = !listened && listened.error().fault == Fault::rejected;
        if (!listened && std::exchange(said, listened.error().describe()) != listened.error().describe())
            log(LogLevel::warning, "listen: " + said);
        std::ignore = clock_->sleep(clock_->now() + (for_good ? pause_when_deaf : pause_after_break), stop);
    }
}

Status Listener::listen(const std::stop_token& stop) {
    const Deadline deadline = Deadline::after(clock_->now(), listen_limit);
    ConnectionHandle connection = SEMEL_TRY(reach_server(target_, options_, *clock_, deadline));
    SEMEL_TRY(check_listening(connection.get(), target_, options_, *clock_, deadline));
    hears_ = true;
    heard_();  // What was sent while it was away is lost.
    stay(std::move(connection), stop);
    return {};
}

void Listener::stay(ConnectionHandle connection, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const Deadline silence = Deadline::after(clock_->now(), longest_silence);
        const bool came = readable(connection.get(), wake_, *clock_, silence);
        if (stop.stop_requested()) return;
        if (!came && silence.passed(clock_->now())) {
            const Deadline soon = Deadline::after(clock_->now(), listen_limit);
            if (!run_plain(connection.get(), "SELECT 1", *clock_, soon)) return;
        }
        if (!take_notices(connection.get())) return;
    }
}

bool Listener::take_notices(PGconn* connection) {
    if (PQconsumeInput(connection) == 0) return false;
    bool any = false;
    while (const NotifyHandle notice{PQnotifies(connection)}) any = true;
    if (any) heard_();
    return true;
}

}  // namespace semel::postgres
