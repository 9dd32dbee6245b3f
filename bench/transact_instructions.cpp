// Runs as many transactions of three posted statements as the command line says, one after the other on one connection, for
// a tool that counts the instructions of the server: the difference between two runs divided by the difference of their
// numbers is the cost of one. Prints the tables and pgbench's script of the same transaction, too.

#include "bench/three_posted.hpp"
#include "semel/db/transact.hpp"
#include "semel/postgres/open.hpp"

#include <charconv>
#include <cstdio>

namespace semel::bench {
namespace {

Status run(const std::string& address, std::uint64_t count) {
    DatabaseOptions options;
    options.pool.size = 1;
    auto connector = SEMEL_TRY(postgres::connector({.connection = address}));
    const auto database = SEMEL_TRY(Database::create(std::move(connector), options));
    for (std::uint64_t n = 0; n < count; ++n) {
        Random& random = system_random();
        const auto account = static_cast<std::int64_t>(random.below(accounts)) + 1;
        const auto amount = static_cast<std::int64_t>(random.below(1000)) + 1;
        const auto outcome = transact(*database, [&](Transaction& tx) { return three_posted(tx, account, amount); });
        if (!outcome.committed()) return fail(outcome.error());
    }
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (argc == 2 && (first == "--schema" || first == "--script")) {
        std::fputs(first == "--schema" ? payments_schema : three_in_two_pipelines().c_str(), stdout);
        return 0;
    }
    std::uint64_t count = 0;
    const std::string_view number = argc == 3 ? argv[2] : "";
    const auto read = std::from_chars(number.begin(), number.end(), count);
    if (number.empty() || read.ptr != number.end() || read.ec != std::errc()) {
        std::fprintf(stderr, "usage: %s ADDRESS COUNT | --schema | --script\n", argv[0]);
        return 2;
    }
    const semel::Status done = run(argv[1], count);
    if (!done) std::fprintf(stderr, "transact_instructions: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
