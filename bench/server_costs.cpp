#include "bench/server_costs.hpp"

#include "semel/postgres/session.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

namespace semel::bench {
namespace {

/// How much our sockets to the server have carried, both ways, as the kernel counts.
std::uint64_t bytes_exchanged(int port) {
    std::uint64_t total = 0;
    for (int descriptor = 3; descriptor < 1024; ++descriptor) {
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || ntohs(peer.sin_port) != port)
            continue;
        tcp_info info{};
        size = sizeof info;
        if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
            total += info.tcpi_bytes_acked + info.tcpi_bytes_received;
    }
    return total;
}

/// Processor time of one process in seconds, with that of its children which have ended.
double processor_seconds(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    file.ignore(std::numeric_limits<std::streamsize>::max(), ')');
    std::string skipped;
    for (int i = 0; i < 11; ++i) file >> skipped;
    double total = 0;
    double ticks = 0;
    for (int i = 0; i < 4 && file >> ticks; ++i) total += ticks;
    return total / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

pid_t server_process(const testing::PostgresCluster& cluster) {
    pid_t server = 0;
    std::ifstream(cluster.dir() + "/data/postmaster.pid") >> server;
    return server;
}

std::vector<pid_t> children_of(pid_t process) {
    const std::string number = std::to_string(process);
    std::ifstream file("/proc/" + number + "/task/" + number + "/children");
    return {std::istream_iterator<pid_t>(file), {}};
}

/// Of all processes of the server, also those that have ended.
double server_processor_seconds(const testing::PostgresCluster& cluster) {
    const pid_t server = server_process(cluster);
    double total = processor_seconds(server);
    for (const pid_t process : children_of(server)) total += processor_seconds(process);
    return total;
}

Result<double> log_position(const testing::PostgresCluster& cluster) {
    return std::stod(SEMEL_TRY(cluster.scalar("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")));
}

/// Of all sessions together. Takes each of them for a moment.
Result<std::uint64_t> round_trips(Database& database, int connections) {
    std::vector<Pool::Loan> loans;
    std::uint64_t total = 0;
    for (int i = 0; i < connections; ++i) {
        loans.push_back(SEMEL_TRY(database.pool().acquire(Deadline::never())));
        total += dynamic_cast<postgres::PostgresSession&>(*loans.back()).round_trips();
    }
    return total;
}

}  // namespace

Result<Sample> with_server_costs(const testing::PostgresCluster& cluster,
                                 const std::function<Result<Sample>()>& measure) {
    const double log_before = SEMEL_TRY(log_position(cluster));
    const double busy_before = server_processor_seconds(cluster);
    Sample sample = SEMEL_TRY(measure());
    const double busy_after = server_processor_seconds(cluster);
    const double log_after = SEMEL_TRY(log_position(cluster));
    const auto count = static_cast<double>(sample.transactions);
    sample.each["server_us"] = (busy_after - busy_before) / count * 1e6;
    sample.each["log_bytes"] = (log_after - log_before) / count;
    return sample;
}

Result<Sample> with_client_costs(const testing::PostgresCluster& cluster, Database& database, int connections,
                                 const std::function<Result<Sample>()>& measure) {
    const std::uint64_t trips = SEMEL_TRY(round_trips(database, connections));
    const std::uint64_t bytes = bytes_exchanged(cluster.port());
    Sample sample = SEMEL_TRY(measure());
    const auto count = static_cast<double>(sample.transactions);
    sample.each["bytes"] = static_cast<double>(bytes_exchanged(cluster.port()) - bytes) / count;
    sample.each["round_trips"] = static_cast<double>(SEMEL_TRY(round_trips(database, connections)) - trips) / count;
    return sample;
}

std::size_t server_processes(const testing::PostgresCluster& cluster) {
    return children_of(server_process(cluster)).size();
}

void await_departure(const testing::PostgresCluster& cluster, std::size_t processes_before) {
    for (int i = 0; i < 100 && server_processes(cluster) > processes_before; ++i)
        system_clock().sleep(system_clock().now() + std::chrono::milliseconds(10), {});
}

}  // namespace semel::bench
