#include "semel/testing/pgbouncer.hpp"

#include "semel/testing/postgres_query.hpp"

#include <fstream>
#include <iterator>

namespace semel::testing {
namespace {

constexpr Duration limit = std::chrono::seconds(10);
constexpr Duration pause_between_looks = std::chrono::milliseconds(10);

/// Debian puts it where only root's PATH looks.
std::string find_pgbouncer() {
    if (std::string found = find_program("pgbouncer"); !found.empty()) return found;
    return ::access("/usr/sbin/pgbouncer", X_OK) == 0 ? "/usr/sbin/pgbouncer" : "";
}

Status write_files(const TempDir& dir, int port, int server_port, const PgBouncerOptions& options) {
    std::ofstream users(dir.path() / "users.txt");
    users << "\"postgres\" \"\"\n";
    users.flush();
    std::ofstream config(dir.path() / "pgbouncer.ini");
    config << "[databases]\n* = host=127.0.0.1 port=" << server_port
           << "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port
           << "\nunix_socket_dir =\nauth_type = trust\nauth_file = " << (dir.path() / "users.txt").string()
           << "\npool_mode = transaction\nmax_client_conn = 500\ndefault_pool_size = " << options.pool_size << "\n";
    for (const std::string& setting : options.settings) config << setting << "\n";
    config.flush();
    if (!users || !config)
        return fail(Fault::unavailable, "cannot write the files of pgbouncer in " + dir.path().string());
    return {};
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Result<PgBouncer> PgBouncer::start(const PostgresCluster& server, const PgBouncerOptions& options) {
    const std::string program = find_pgbouncer();
    if (program.empty())
        return fail(Fault::unavailable,
                    "no pgbouncer found in PATH or /usr/sbin; `apt-get install pgbouncer` brings one");
    const std::string user = server_user();
    TempDir dir = SEMEL_TRY(TempDir::make("pgbouncer", user));
    const int port = SEMEL_TRY(free_port());
    SEMEL_TRY(write_files(dir, port, server.port(), options));
    const auto log = dir.path() / "pgbouncer.log";
    Process process = SEMEL_TRY(Process::spawn({.argv = {program, (dir.path() / "pgbouncer.ini").string()},
                                                .user = user,
                                                .directory = dir.path(),
                                                .output_file = log}));
    PgBouncer bouncer(std::move(dir), std::move(process), port);
    const Instant until = system_clock().now() + limit;
    std::string problem = "does not answer within 10 s";
    while (system_clock().now() < until) {
        if (detail::answers(bouncer.url())) return bouncer;
        if (const auto exit = bouncer.process_.wait(pause_between_looks)) {
            problem = exit->text();
            break;
        }
    }
    Error error;
    error.fault = Fault::unavailable;
    error.message = "pgbouncer " + problem;
    error.native = text_of(log);
    return fail(std::move(error));
}

std::string PgBouncer::url(std::string_view database, std::string_view user) const {
    return "postgresql://" + std::string(user) + "@127.0.0.1:" + std::to_string(port_) + "/" + std::string(database);
}

}  // namespace semel::testing
