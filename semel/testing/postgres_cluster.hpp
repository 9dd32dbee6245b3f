#pragma once

#include "semel/base/result.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace semel::testing {

struct PostgresOptions {
    /// Forces every commit to disk, as a real server does. Off, a machine crash loses data; a
    /// killed server process does not.
    bool durable = false;
    /// "name=value", for postgresql.conf. They outrank what the cluster sets by itself
    /// (wal_level=logical, max_connections=200).
    std::vector<std::string> settings{};
};

/// A PostgreSQL server of our own: throw-away data, loopback only, superuser `postgres` without a
/// password. It ends and its files go with this object; should our process be killed, the kernel
/// ends the server. Run by root, it runs as the user `postgres` (or `nobody`).
///
/// Every wait is bounded (30 s); an Error names the step and ends with the tail of the server's
/// log. One thread at a time, except `url`, `port`, `sql`, `scalar` and `fresh_database`.
class PostgresCluster {
public:
    enum class StopMode : unsigned char {
        fast,       ///< Open transactions are rolled back, everything is written.
        immediate,  ///< As in a crash; the next start recovers.
    };

    /// Makes a new server and waits until it answers. Where no PostgreSQL (14 or newer) is
    /// installed, the Error says where it was looked for.
    [[nodiscard]] static Result<PostgresCluster> start(const PostgresOptions& options = {});
    PostgresCluster(PostgresCluster&&) noexcept;
    PostgresCluster& operator=(PostgresCluster&&) noexcept;
    ~PostgresCluster();

    [[nodiscard]] std::string url(std::string_view database = "postgres", std::string_view user = "postgres") const;
    [[nodiscard]] int port() const noexcept;
    /// Where the server's log and data are.
    [[nodiscard]] const std::string& dir() const noexcept;

    [[nodiscard]] Status stop(StopMode mode = StopMode::fast);
    /// After `stop` or `kill9`: on the same port, with the same data.
    [[nodiscard]] Status start_again();
    [[nodiscard]] Status restart();
    /// SIGKILL to every process of the server; returns when all are gone.
    [[nodiscard]] Status kill9();
    /// Stops every process of the server in its tracks: the kernel still accepts connections,
    /// nobody ever answers.
    [[nodiscard]] Status pause();
    [[nodiscard]] Status resume();

    /// A streaming copy of this server, which must stay alive as long as the copy follows it. A
    /// synchronous one makes every COMMIT here wait for it; returns when it keeps up. `name`
    /// becomes application_name and slot, so it is lower-case letters, digits and underscores.
    [[nodiscard]] Result<PostgresCluster> add_standby(std::string_view name, bool synchronous);
    /// Turns a standby into a primary; returns when it accepts writes.
    [[nodiscard]] Status promote();

    /// Runs statements, for the convenience of tests.
    [[nodiscard]] Status sql(const std::string& text, std::string_view database = "postgres") const;
    /// The first field of the first row; empty if there is none. Parameters are $1, $2, ….
    [[nodiscard]] Result<std::string> scalar(const std::string& text, std::string_view database = "postgres",
                                             const std::vector<std::string>& parameters = {}) const;
    /// Creates an empty database; its URL.
    [[nodiscard]] Result<std::string> fresh_database() const;

private:
    struct State;
    explicit PostgresCluster(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

/// The server that all tests of this process share, started when first asked for and ended with
/// the process. Every caller gets the Error if it cannot be had; print it and skip.
[[nodiscard]] Result<PostgresCluster*> shared_postgres();

/// The user that a server runs as: a server refuses to run as root. Empty: as ourselves.
[[nodiscard]] std::string server_user();

}  // namespace semel::testing
