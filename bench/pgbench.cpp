#include "bench/pgbench.hpp"

#include "semel/testing/process.hpp"

#include <charconv>
#include <fstream>

namespace semel::bench {
namespace {

/// The number behind a label in what pgbench prints; negative if the label is not there.
double number_after(std::string_view text, std::string_view label) {
    const auto found = text.find(label);
    if (found == std::string_view::npos) return -1;
    text.remove_prefix(found + label.size());
    double number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

Result<Pgbench> Pgbench::create(const testing::PostgresCluster& cluster, int connections) {
    std::string program = testing::find_program("pgbench");
    if (program.empty())
        return fail(Fault::unavailable, "pgbench is not installed; `apt-get install postgresql-15` brings it");
    return Pgbench(std::move(program), SEMEL_TRY(testing::TempDir::make("pgbench")), cluster.port(), connections);
}

Result<Sample> Pgbench::run(std::string_view script, Duration time, int threads) const {
    const std::string file = dir_.path() / "script.sql";
    std::ofstream(file) << script;
    // It counts in whole seconds.
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(time).count();
    const double processor = children_processor_seconds();
    const testing::Command command{.argv = {program_,  "-n",
                                            "-M",      "prepared",
                                            "-c",      std::to_string(connections_),
                                            "-j",      std::to_string(threads),
                                            "-T",      std::to_string(seconds),
                                            "-D",      "first=1",
                                            "-f",      file,
                                            "-h",      "127.0.0.1",
                                            "-p",      std::to_string(port_),
                                            "-U",      "postgres",
                                            "postgres"}};
    const testing::Finished done = SEMEL_TRY(testing::run(command, time + std::chrono::seconds(30)));
    const double rate = number_after(done.output, "tps = ");
    const double count = number_after(done.output, "number of transactions actually processed: ");
    const double failed = number_after(done.output, "number of failed transactions: ");
    if (!done.exit.success() || rate <= 0 || count <= 0 || failed > 0)
        return fail(Fault::unavailable, "pgbench " + done.exit.text() + ": " + done.error_output + done.output);
    Sample sample{.transactions = static_cast<std::uint64_t>(count), .seconds = count / rate, .each = {}};
    sample.each["client_us"] = (children_processor_seconds() - processor) / count * 1e6;
    return sample;
}

}  // namespace semel::bench
