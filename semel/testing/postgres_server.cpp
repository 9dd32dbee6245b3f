#include "semel/testing/postgres_server.hpp"

#include "semel/testing/postgres_query.hpp"

#include <pwd.h>
#include <sys/shm.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

/// For a machine that has much else to do; an idle one needs a second or two.
constexpr Duration limit = std::chrono::minutes(2);
constexpr Duration pause_between_looks = std::chrono::milliseconds(10);
constexpr int oldest_version = 14;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The directory of the newest initdb, or an Error that says where it was looked for.
Result<std::string> find_binaries() {
    int newest = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
        const std::string name = entry.path().filename().string();
        int version = 0;
        std::from_chars(name.data(), name.data() + name.size(), version);
        if (version > newest && fs::exists(entry.path() / "bin/initdb")) newest = version;
    }
    if (newest >= oldest_version) return "/usr/lib/postgresql/" + std::to_string(newest) + "/bin";
    const std::string initdb = find_program("initdb");
    if (!initdb.empty()) return fs::path(initdb).parent_path().string();
    if (const std::string config = find_program("pg_config"); !config.empty()) {
        const auto asked = run({.argv = {config, "--bindir"}}, limit);
        if (asked && asked->exit.success()) {
            std::string directory = asked->output.substr(0, asked->output.find('\n'));
            if (fs::exists(fs::path(directory) / "initdb")) return directory;
        }
    }
    return fail(Fault::unavailable,
                "no PostgreSQL server found in /usr/lib/postgresql/*/bin, PATH or pg_config --bindir; "
                "`apt-get install postgresql` brings one");
}

}  // namespace

std::string server_user() {
    if (::geteuid() != 0) return {};
    return ::getpwnam("postgres") != nullptr ? "postgres" : "nobody";
}

namespace detail {

Status poll_until(std::string_view what, const std::function<Result<bool>()>& done) {
    const Instant until = system_clock().now() + limit;
    for (;;) {
        const Result<bool> answer = done();
        if (answer && *answer) return {};
        const Instant now = system_clock().now();
        if (now >= until) {
            if (!answer) return fail(Error(answer.error()).within(what));
            return fail(Fault::unavailable, std::string(what) + ": not within 2 minutes");
        }
        system_clock().sleep(now + pause_between_looks, {});
    }
}

Result<PostgresServer> PostgresServer::prepare(std::string_view purpose) {
    std::string binaries = SEMEL_TRY(find_binaries());
    std::string user = server_user();
    TempDir dir = SEMEL_TRY(TempDir::make(purpose, user));
    const int port = SEMEL_TRY(free_port());
    return PostgresServer(std::move(dir), std::move(binaries), std::move(user), port);
}

PostgresServer::~PostgresServer() {
    if (!process_ || process_->pid() < 0) return;  // Never started, or moved from.
    // The data goes away anyway: immediate is quickest and leaves no process behind.
    static_cast<void>(signal_all(SIGCONT));
    static_cast<void>(stop(SIGQUIT));
    remove_shared_memory();
}

Status PostgresServer::run_tool(std::vector<std::string> argv) {
    const std::string name = argv.front();
    argv.front() = binaries_ + "/" + name;
    const Finished done = SEMEL_TRY(run({.argv = std::move(argv), .user = user_, .directory = dir()}, limit));
    if (done.exit.success()) return {};
    return fail(Fault::unavailable, name + " " + done.exit.text() + ": " + done.error_output);
}

Status PostgresServer::init_data(const PostgresOptions& options) {
    SEMEL_TRY(run_tool({"initdb", "-D", data().string(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale",
                        "-N", "--no-instructions"}));
    std::ofstream file(data() / "postgresql.conf", std::ios::app);
    // Shared memory in files of the data directory goes away with it, even after a SIGKILL.
    file << "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 200\n"
            "wal_level = logical\ndynamic_shared_memory_type = mmap\nlc_messages = 'C'\n";
    if (!options.durable) file << "fsync = off\n";
    for (const std::string& setting : options.settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos) return fail(Fault::rejected, "not a setting, name=value: " + setting);
        file << setting.substr(0, equals) << " = '" << setting.substr(equals + 1) << "'\n";
    }
    file.flush();
    if (!file) return fail(Fault::unavailable, "cannot write " + (data() / "postgresql.conf").string());
    return {};
}

Status PostgresServer::copy_data(const PostgresServer& primary, const std::string& name) {
    SEMEL_TRY(run_tool({"pg_basebackup", "-D", data().string(), "-R", "-X", "stream", "-C", "-S", name, "-c", "fast",
                        "-N", "-d", primary.url("postgres", "postgres") + "?application_name=" + name}));
    // The copy must not wait for itself, or for its sisters, once it is the primary.
    std::ofstream file(data() / "postgresql.auto.conf", std::ios::app);
    file << "synchronous_standby_names = ''\n";
    file.flush();
    if (!file) return fail(Fault::unavailable, "cannot write " + (data() / "postgresql.auto.conf").string());
    return {};
}

Status PostgresServer::start() {
    if (process_ && process_->running()) return fail(Fault::rejected, "the server runs already");
    process_ =
        SEMEL_TRY(Process::spawn({.argv = {binaries_ + "/postgres", "-D", data().string(), "-p", std::to_string(port_)},
                                  .user = user_,
                                  .directory = dir(),
                                  .output_file = log(),
                                  .death_signal = SIGQUIT}));
    const Instant until = system_clock().now() + limit;
    while (system_clock().now() < until) {
        if (answers(url("postgres", "postgres"))) return {};
        if (const auto exit = process_->wait(pause_between_looks))
            return fail(unavailable("the server " + exit->text()));
    }
    return fail(unavailable("the server does not answer within 2 minutes"));
}

Status PostgresServer::stop(int signal) {
    if (!process_ || !process_->running()) return {};
    process_->signal(signal);
    if (process_->wait(limit)) return {};
    SEMEL_TRY(kill9());
    return fail(unavailable("the server did not stop within 2 minutes and was killed"));
}

Status PostgresServer::kill9() {
    if (!process_ || !process_->running()) return {};
    process_->signal(SIGSTOP);  // So that it starts no process that we would not see.
    const std::vector<pid_t> children = descendants(process_->pid());
    process_->signal(SIGKILL);
    for (const pid_t child : children) ::kill(child, SIGKILL);
    process_->kill();
    return poll_until("wait for the killed server",
                      [&]() -> Result<bool> { return std::none_of(children.begin(), children.end(), is_alive); });
}

Status PostgresServer::signal_all(int signal) {
    if (!process_ || !process_->running()) return fail(Fault::rejected, "the server does not run");
    // Each of its processes leads a session of its own, so a signal to the group reaches only one.
    if (signal != SIGCONT) process_->signal(signal);
    for (const pid_t child : descendants(process_->pid())) ::kill(child, signal);
    if (signal == SIGCONT) process_->signal(signal);
    return {};
}

std::string PostgresServer::url(std::string_view database, std::string_view user) const {
    return "postgresql://" + std::string(user) + "@127.0.0.1:" + std::to_string(port_) + "/" + std::string(database);
}

/// With the tail of the server's log: it knows better than we do what went wrong.
Error PostgresServer::unavailable(std::string message) const {
    constexpr std::size_t tail = 2'000;
    Error error;
    error.fault = Fault::unavailable;
    error.message = std::move(message);
    const std::string text = text_of(log());
    error.native = text.substr(text.size() > tail ? text.size() - tail : 0);
    return error;
}

/// A killed server leaves its interlock segment behind; its number stands in postmaster.pid.
void PostgresServer::remove_shared_memory() const {
    std::ifstream file(data() / "postmaster.pid");
    std::string line;
    for (int i = 0; i < 7 && std::getline(file, line); ++i) {}
    unsigned long key = 0;
    int id = -1;
    if (std::sscanf(line.c_str(), "%lu %d", &key, &id) != 2) return;
    shmid_ds about{};
    if (::shmctl(id, IPC_STAT, &about) != 0 || about.shm_nattch != 0) return;
    if (static_cast<unsigned long>(about.shm_perm.__key) == key) ::shmctl(id, IPC_RMID, nullptr);
}

}  // namespace detail
}  // namespace semel::testing
