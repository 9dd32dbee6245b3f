#include "apps/semel/relay.hpp"

#include "apps/semel/duration.hpp"
#include "apps/semel/relay_progress.hpp"
#include "apps/semel/report.hpp"
#include "apps/semel/sink.hpp"
#include "apps/semel/store.hpp"
#include "semel/base/log.hpp"
#include "semel/cdc/feed.hpp"
#include "semel/cdc/mode.hpp"
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

Result<RelayOptions> options_of(const RelayArguments& arguments) {
    RelayOptions options;
    options.rules.lease = SEMEL_TRY(parse_duration(arguments.lease));
    if (options.rules.lease < std::chrono::seconds(1) || options.rules.lease > std::chrono::minutes(10))
        return fail(Fault::rejected, "--lease is from 1s to 10m");
    // Leaves time to renew it after the longest publish.
    options.rules.publish_limit = std::min(options.rules.publish_limit, options.rules.lease / 2);
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

/// Switches an outbox that has never been read from the log. After that `semel outbox mode` decides: a relay that is
/// started again must not undo what a person has ordered.
Status enter_log(const RelayArguments& arguments, Database& database, const cdc::LinkOptions& link) {
    const OutboxStatus status = SEMEL_TRY(outbox_status(database, soon(database)));
    if (status.feed.slot.empty())
        return cdc::switch_to_cdc(database, link, arguments.slot.empty() ? cdc::default_slot : arguments.slot,
                                  soon(database));
    if (status.feed.mode != "cdc")
        log(LogLevel::warning, "relay: the outbox is not read from the log (mode " + status.feed.mode +
                                   "); this relay stands by. `semel outbox mode cdc` switches");
    return {};
}

Result<std::unique_ptr<Relay>> make_relay(const RelayArguments& arguments, Database& database, Sink& sink,
                                          Doorbell& doorbell) {
    const RelayOptions options = SEMEL_TRY(options_of(arguments));
    if (!arguments.cdc) return Relay::create(database, sink, doorbell, options);
    cdc::CdcOptions how;
    how.link.connection = arguments.database;
    how.name = arguments.name;
    how.lease = options.rules.lease;
    how.poll = options.rules.poll;
    SEMEL_TRY(enter_log(arguments, database, how.link));
    auto feed = SEMEL_TRY(cdc::CdcFeed::create(database, std::move(how)));
    return Relay::create(database, sink, std::move(feed), options);
}

Result<ExitCode> relay_events(const RelayArguments& arguments) {
    // Before any thread, of ours or of a broker's library, so that all inherit what is blocked.
    const EndSignals signals;
    const auto sink = SEMEL_TRY(make_sink(arguments));
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    if (arguments.cdc && opened.dialect != Dialect::postgres)
        return fail(Fault::rejected, "--cdc reads the log of a PostgreSQL server; this store has none");
    Database& database = *opened.database;
    ObservedSink observed(*sink);
    LocalDoorbell doorbell(database.clock());
    const auto listener = SEMEL_TRY(open_listener(arguments.database, [&doorbell] { doorbell.ring(); }));
    const auto relay = SEMEL_TRY(make_relay(arguments, database, observed, doorbell));
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
