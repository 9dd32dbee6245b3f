#include "apps/orders/serve.hpp"

#include "apps/orders/consumers/consumers.hpp"
#include "apps/orders/contracts.hpp"
#include "apps/orders/demo.hpp"
#include "apps/orders/expiry.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/relay.hpp"
#include "apps/orders/replays.hpp"
#include "apps/orders/retention.hpp"
#include "apps/orders/storage/schema.hpp"
#include "semel/command/sweeper.hpp"
#include "semel/db/migrate.hpp"
#include "semel/http/health.hpp"
#include "semel/http/server.hpp"
#include "semel/open/doorbell.hpp"
#include "semel/open/open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>

namespace orders {
namespace {

using semel::Deadline;
using semel::Fault;
using semel::Result;
using semel::Status;

/// For the database to be there, and for the schema to be brought up to date.
constexpr semel::Duration start_limit = std::chrono::seconds(60);

/// What a killed process may forget of how often it was asked again, against one small write in this time.
constexpr semel::Duration replays_written_every = std::chrono::seconds(1);

/// SIGTERM and SIGINT, for whoever asks; blocked in every thread, so that nobody else gets them.
class EndSignals {
public:
    EndSignals() noexcept {
        ::sigemptyset(&set_);
        ::sigaddset(&set_, SIGTERM);
        ::sigaddset(&set_, SIGINT);
        ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
        // A client that is gone, or a closed terminal, is an error of write and no reason to end.
        std::signal(SIGPIPE, SIG_IGN);
    }
    void await() const noexcept {
        int number = 0;
        ::sigwait(&set_, &number);
    }
    /// From here on they do what they usually do.
    void release() const noexcept { ::pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

private:
    sigset_t set_{};
};

Result<semel::http::TokenTable> read_tokens(const std::filesystem::path& file) {
    if (file.empty()) return semel::http::TokenTable();
    std::ifstream stream(file);
    if (!stream) return semel::fail(Fault::rejected, "the tokens cannot be read from " + file.string());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    auto tokens = semel::http::TokenTable::parse(text);
    if (!tokens) return semel::fail(std::move(tokens).error().within(file.string()));
    // Whoever names a file means to have tokens; an empty one must not open the door.
    if (tokens->empty()) return semel::fail(Fault::rejected, file.string() + " holds no token");
    return tokens;
}

Result<semel::OpenedDatabase> open_database(const Config& config) {
    if (config.database.empty())
        return semel::fail(Fault::rejected, "no database is named: give --db, SEMEL_DB, or `database` in the file");
    semel::DatabaseOptions options;
    options.pool.size = config.pool;
    options.deadline = config.request_deadline;
    auto opened = SEMEL_TRY(semel::open(config.database, options));
    semel::Database& database = *opened.database;
    const Deadline deadline = Deadline::after(database.clock().now(), start_limit);
    SEMEL_TRY(semel::migrate(database, "semel", opened.schema, deadline));
    SEMEL_TRY(semel::migrate(database, "orders", schema(opened.dialect), deadline));
    return opened;
}

semel::http::Health make_health(semel::Database& database) {
    const auto ready = [&database](Deadline deadline) -> Status {
        auto session = SEMEL_TRY(database.pool().acquire(deadline));
        SEMEL_TRY(session->look({.sql = "SELECT 1", .parameters = {}, .expected_rows = std::nullopt}, deadline));
        return {};
    };
    return {{.ready = ready}, database.clock()};
}

Result<semel::http::ServerOptions> server_options(const Config& config) {
    semel::http::ServerOptions options;
    options.listen = config.listen;
    options.tls_certificate_file = config.tls_certificate.string();
    options.tls_key_file = config.tls_key.string();
    options.tokens = SEMEL_TRY(read_tokens(config.tokens));
    options.workers = config.workers;
    options.queue_max = config.queue;
    options.connections_max = config.connections;
    options.body_max = config.body_bytes;
    options.request_deadline = config.request_deadline;
    return options;
}

/// A retention for an operation that there is not would be a typing error that nobody notices.
Status check_operations(const Config& config, const Api& api) {
    for (const auto& [operation, retention] : config.retention_of_operation) {
        if (std::ranges::find(api.operations(), operation) != api.operations().end()) continue;
        return semel::fail(Fault::rejected, fmt::format("{}: nobody knows `retention.operation.{}`; allowed here: {}",
                                                        retention.where, operation, fmt::join(api.operations(), ", ")));
    }
    return {};
}

/// None: this instance consumes nothing.
Result<std::unique_ptr<Consumers>> make_consumers(const Config& config, const ConsumeContext& context) {
    if (!config.consume.webhook && config.consume.from.empty()) return nullptr;
    auto consumers = SEMEL_TRY(Consumers::create(context, config.consume));
    consumers->start();
    return consumers;
}

/// None: no messages are taken by HTTP.
std::optional<EventInlet> inlet_of(const Config& config, Consumers* consumers) {
    if (!config.consume.webhook) return std::nullopt;
    return EventInlet{.secrets = config.consume.secrets,
                      .take = [consumers](const semel::ReceivedMessage& message, Deadline deadline) {
                          return consumers->take(message, deadline);
                      }};
}

/// The address that a client needs, with the port that the system chose.
void announce(const Config& config, std::uint16_t port) {
    const std::string host = config.listen.substr(0, config.listen.rfind(':'));
    std::printf("listening on %s://%s:%d\n", config.tls_certificate.empty() ? "http" : "https", host.c_str(), port);
    std::fflush(stdout);
}

/// A demo that cannot be made, because somebody has changed what it had begun, is no reason not to serve.
void show_demo(semel::Executor& executor) {
    const auto told = fill_demo(executor);
    std::printf("%s\n", told ? told->c_str() : ("demo: it is not complete: " + told.error().describe()).c_str());
}

}  // namespace

Status serve(const Config& config) {
    const EndSignals signals;
    auto options = SEMEL_TRY(server_options(config));
    const auto opened = SEMEL_TRY(open_database(config));
    semel::Database& database = *opened.database;
    semel::LocalDoorbell doorbell(database.clock());
    const auto notifier = SEMEL_TRY(semel::open_notifier(config.database, database.clock()));
    const auto ring = [&doorbell, &notifier] {
        doorbell.ring();
        if (notifier) notifier->ring();
    };
    const semel::EventCheck check_event = config.check_events ? SEMEL_TRY(contract_check()) : nullptr;
    const auto executor = SEMEL_TRY(semel::Executor::create(
        database, {.cache_bytes = config.cache_bytes, .on_executed = ring, .check_event = check_event}));
    if (config.demo) show_demo(*executor);
    const RetentionOf retention_of = [&config](std::string_view operation) { return config.retention_of(operation); };
    semel::Operations async_operations;
    SEMEL_TRY(add_operations(async_operations, retention_of));
    const auto leased = SEMEL_TRY(semel::LeasedExecutor::create(*executor, async_operations));
    semel::Worker worker(*leased, {.threads = std::max<std::size_t>(config.async_workers, 1)});
    semel::Sweeper sweeper(*leased);
    ReplayCounter replays(database, replays_written_every);
    const semel::http::CommandRoutes commands(*executor, config.profile,
                                              [&replays](const semel::Identity& identity) { replays.count(identity); });
    // It outlives the server, whose requests wait for it.
    const auto consumers =
        SEMEL_TRY(make_consumers(config, {.database = database, .check_event = check_event, .on_done = ring}));
    Api api(commands, retention_of);
    add_routes(api, {.database = database,
                     .commands = commands,
                     .async = {.executor = *leased, .worker = worker},
                     .quotes = config.quotes,
                     .integrations = config.integrations,
                     .inlet = inlet_of(config, consumers.get())});
    SEMEL_TRY(check_operations(config, api));
    semel::http::Router router = api.take_router();
    semel::http::Health health = make_health(database);
    health.add_to(router);
    const auto server = SEMEL_TRY(semel::http::Server::start(std::move(options), std::move(router), database.clock()));
    if (config.async_workers > 0) {
        worker.start();
        sweeper.start();
    }
    const RetentionRunner retention(database, {.tombstone = config.tombstone}, config.retention_pass);
    const ExpiryRunner expiry(*executor, config.expiry_pass);
    // Last to come and first to go: it leaves nothing half told.
    std::unique_ptr<semel::postgres::Listener> listener;
    std::optional<EventRelay> relay;
    if (!config.relay.to.empty()) {
        // Another instance may append what this one has to publish.
        listener = SEMEL_TRY(semel::open_listener(config.database, [&doorbell] { doorbell.ring(); }));
        relay = SEMEL_TRY(EventRelay::start(database, doorbell, config.relay));
    }
    announce(config, server->port());

    signals.await();
    signals.release();
    health.drain();
    if (consumers) consumers->close();
    if (server->drain(Deadline::after(database.clock().now(), config.drain))) return {};
    return semel::fail(Fault::unavailable,
                       "requests were still under way at the end of the drain time and were cut off");
}

}  // namespace orders
