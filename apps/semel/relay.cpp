#include "apps/semel/relay.hpp"

#include "apps/semel/relay_progress.hpp"
#include "apps/semel/report.hpp"
#include "apps/semel/sink.hpp"
#include "apps/semel/store.hpp"
#include "semel/open/doorbell.hpp"
#include "semel/relay/runner.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>

namespace semel::app {
namespace {

/// Often enough to watch, seldom enough to keep.
constexpr timespec progress_pause{.tv_sec = 5, .tv_nsec = 0};

/// SIGTERM and SIGINT, for whoever asks; blocked in every thread, so that nobody else gets them.
class EndSignals {
public:
    EndSignals() noexcept {
        ::sigemptyset(&set_);
        ::sigaddset(&set_, SIGTERM);
        ::sigaddset(&set_, SIGINT);
        ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
        std::signal(SIGPIPE, SIG_IGN);
    }
    /// True once one has come; waits no longer than `limit` for it.
    [[nodiscard]] bool came(const timespec& limit) const noexcept { return ::sigtimedwait(&set_, nullptr, &limit) > 0; }
    /// From here on they do what they usually do.
    void release() const noexcept { ::pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

private:
    sigset_t set_{};
};

/// Of a name that the command line has checked.
Poison poison_named(std::string_view text) {
    if (text == name(Poison::park)) return Poison::park;
    if (text == name(Poison::skip)) return Poison::skip;
    return Poison::block;
}

RelayOptions options_of(const RelayArguments& arguments) {
    RelayOptions options;
    options.name = arguments.name;
    options.rules.batch = arguments.batch;
    options.rules.poison = poison_named(arguments.poison);
    for (const std::string& one : arguments.poison_of) {
        const std::size_t sign = one.rfind('=');
        options.rules.poison_of.insert_or_assign(one.substr(0, sign), poison_named(one.substr(sign + 1)));
    }
    return options;
}

void print(const RelayReport& report, std::int64_t pending, bool json) {
    if (json) {
        const nlohmann::ordered_json body{{"acknowledged", report.acknowledged},
                                          {"batches", report.batches},
                                          {"failed", report.failed},
                                          {"parked", report.parked},
                                          {"pending", pending}};
        std::puts(body.dump(2).c_str());
        return;
    }
    std::printf("acknowledged %llu in %llu batches, failed attempts %llu, parked %llu, still pending %lld\n",
                static_cast<unsigned long long>(report.acknowledged), static_cast<unsigned long long>(report.batches),
                static_cast<unsigned long long>(report.failed), static_cast<unsigned long long>(report.parked),
                static_cast<long long>(pending));
}

/// On this thread until nothing can leave any more, or a signal comes.
void run_once(Relay& relay, const EndSignals& signals) {
    while (!signals.came({}) && relay.step()) {}
}

void run(Relay& relay, const EndSignals& signals, RelayProgress& progress) {
    relay.start();
    while (!signals.came(progress_pause)) progress.tell(relay.report());
}

Result<ExitCode> relay_events(const RelayArguments& arguments) {
    const auto sink = SEMEL_TRY(make_sink(arguments));
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    Database& database = *opened.database;
    ObservedSink observed(*sink);
    LocalDoorbell doorbell(database.clock());
    // Before the relay's thread, so that it inherits what is blocked.
    const EndSignals signals;
    const auto listener = SEMEL_TRY(open_listener(arguments.database, [&doorbell] { doorbell.ring(); }));
    const auto relay = SEMEL_TRY(Relay::create(database, observed, doorbell, options_of(arguments)));
    RelayProgress progress(database, observed);
    if (arguments.once)
        run_once(*relay, signals);
    else
        run(*relay, signals, progress);
    signals.release();
    relay->stop();
    const OutboxStatus status = SEMEL_TRY(outbox_status(database, soon(database)));
    print(relay->report(), status.pending, arguments.json);
    if (!arguments.once || status.pending == 0) return ExitCode::ok;
    if (const auto trouble = observed.trouble()) std::fprintf(stderr, "semel relay: %s\n", trouble->describe().c_str());
    return ExitCode::finding;
}

}  // namespace

ExitCode relay(const RelayArguments& arguments) { return report("relay", relay_events(arguments), arguments.json); }

}  // namespace semel::app
