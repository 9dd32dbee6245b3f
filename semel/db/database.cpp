#include "semel/db/database.hpp"

#include <fmt/format.h>

namespace semel {
namespace {

Status check(const PoolLimits& limits) {
    constexpr std::size_t size_max = 10'000;
    constexpr std::size_t queue_max = 1'000'000;
    const auto refuse = [](std::string_view field, std::string_view allowed) {
        return fail(Fault::rejected, fmt::format("pool.{} must be {}", field, allowed));
    };
    if (limits.size < 1 || limits.size > size_max) return refuse("size", "from 1 to 10,000");
    if (limits.queue > queue_max) return refuse("queue", "at most 1,000,000");
    if (limits.acquire_timeout <= Duration::zero()) return refuse("acquire_timeout", "longer than zero");
    if (limits.connect_min < Duration::zero()) return refuse("connect_min", "zero or longer");
    if (limits.lifetime <= Duration::zero()) return refuse("lifetime", "longer than zero");
    if (limits.check_after_idle < Duration::zero()) return refuse("check_after_idle", "zero or longer");
    if (limits.leak_after <= Duration::zero()) return refuse("leak_after", "longer than zero");
    return {};
}

}  // namespace

Result<std::unique_ptr<Database>> Database::create(Connect connect, const DatabaseOptions& options, Clock& clock,
                                                   Random& random) {
    SEMEL_ASSERT(connect && "a database needs a way to connect");
    SEMEL_TRY(check(options.pool));
    if (options.deadline <= Duration::zero()) return fail(Fault::rejected, "deadline must be longer than zero");
    if (options.fair_time < Duration::zero()) return fail(Fault::rejected, "fair_time must be zero or longer");
    // Made and thrown away: they check their own specs and say which field is wrong.
    SEMEL_TRY(Budget::create(options.budget));
    SEMEL_TRY(Breaker::create(options.breaker));
    return std::unique_ptr<Database>(new Database(std::move(connect), options, clock, random));
}

Database::Database(Connect connect, const DatabaseOptions& options, Clock& clock, Random& random)
    : options_(options),
      clock_(&clock),
      random_(&random),
      budget_(options.budget),
      breaker_(options.breaker),
      pool_(std::move(connect), options.pool, clock, random) {}

}  // namespace semel
