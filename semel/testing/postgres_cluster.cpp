#include "semel/testing/postgres_cluster.hpp"

#include "semel/testing/postgres_query.hpp"
#include "semel/testing/postgres_server.hpp"

#include <atomic>
#include <csignal>

namespace semel::testing {

using detail::PostgresServer;

struct PostgresCluster::State {
    explicit State(PostgresServer started) : server(std::move(started)), dir(server.dir().string()) {}
    PostgresServer server;
    std::string dir;
    std::vector<std::string> synchronous_standbys;
    mutable std::atomic<int> databases = 0;
};

PostgresCluster::PostgresCluster(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
PostgresCluster::PostgresCluster(PostgresCluster&&) noexcept = default;
PostgresCluster& PostgresCluster::operator=(PostgresCluster&&) noexcept = default;
PostgresCluster::~PostgresCluster() = default;

Result<PostgresCluster> PostgresCluster::start(const PostgresOptions& options) {
    PostgresServer server = SEMEL_TRY(PostgresServer::prepare("postgres"));
    SEMEL_TRY(server.init_data(options));
    SEMEL_TRY(server.start());
    return PostgresCluster(std::make_unique<State>(std::move(server)));
}

std::string PostgresCluster::url(std::string_view database, std::string_view user) const {
    return state_->server.url(database, user);
}
int PostgresCluster::port() const noexcept { return state_->server.port(); }
const std::string& PostgresCluster::dir() const noexcept { return state_->dir; }

Status PostgresCluster::stop(StopMode mode) { return state_->server.stop(mode == StopMode::fast ? SIGINT : SIGQUIT); }
Status PostgresCluster::start_again() { return state_->server.start(); }
Status PostgresCluster::restart() {
    SEMEL_TRY(stop());
    return start_again();
}
Status PostgresCluster::kill9() { return state_->server.kill9(); }
Status PostgresCluster::pause() { return state_->server.signal_all(SIGSTOP); }
Status PostgresCluster::resume() { return state_->server.signal_all(SIGCONT); }

Result<PostgresCluster> PostgresCluster::add_standby(std::string_view name, bool synchronous) {
    const std::string standby_name(name);
    PostgresServer standby = SEMEL_TRY(PostgresServer::prepare("standby"));
    SEMEL_TRY(standby.copy_data(state_->server, standby_name));
    SEMEL_TRY(standby.start());

    if (synchronous) {
        state_->synchronous_standbys.push_back(standby_name);
        std::string names;
        for (const std::string& each : state_->synchronous_standbys)
            names.append(names.empty() ? "" : ", ").append(each);
        SEMEL_TRY(sql("ALTER SYSTEM SET synchronous_standby_names = '" + names + "'"));
        SEMEL_TRY(sql("SELECT pg_reload_conf()"));
    }
    // A second synchronous standby is only a potential one until the first is gone.
    const std::string wanted = synchronous ? "sync potential" : "async";
    const auto keeps_up = [&]() -> Result<bool> {
        const std::string role = SEMEL_TRY(
            scalar("SELECT sync_state FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming'",
                   "postgres", {standby_name}));
        return !role.empty() && wanted.find(role) != std::string::npos;
    };
    SEMEL_TRY(detail::poll_until("wait for the standby " + standby_name, keeps_up));
    return PostgresCluster(std::make_unique<State>(std::move(standby)));
}

Status PostgresCluster::promote() {
    if (SEMEL_TRY(scalar("SELECT pg_promote(true, 30)")) != "t")
        return fail(Fault::unavailable, "the standby was not promoted within 30 s");
    return detail::poll_until("wait for the end of recovery",
                              [&]() -> Result<bool> { return SEMEL_TRY(scalar("SELECT pg_is_in_recovery()")) == "f"; });
}

Status PostgresCluster::sql(const std::string& text, std::string_view database) const {
    SEMEL_TRY(scalar(text, database));
    return {};
}

Result<std::string> PostgresCluster::scalar(const std::string& text, std::string_view database,
                                            const std::vector<std::string>& parameters) const {
    return detail::query(url(database), text, parameters);
}

Result<std::string> PostgresCluster::fresh_database() const {
    const std::string name = "test_" + std::to_string(++state_->databases);
    SEMEL_TRY(
        sql("CREATE DATABASE " + name));  // tidy: allow(sql-concatenation): a name of ours, and no parameter can be one
    return url(name);
}

Result<PostgresCluster*> shared_postgres() {
    static Result<PostgresCluster> cluster = PostgresCluster::start();
    if (!cluster) return fail(cluster.error());
    return &*cluster;
}

}  // namespace semel::testing
