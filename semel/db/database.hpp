#pragma once

#include "semel/base/random.hpp"
#include "semel/base/time.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/pool.hpp"
#include "semel/retry/breaker.hpp"
#include "semel/retry/budget.hpp"
#include "semel/retry/policy.hpp"

#include <memory>

namespace semel {

struct DatabaseOptions {
    PoolLimits pool;
    Policy retry;                                 ///< How `transact` reruns, unless the caller says otherwise.
    Duration deadline = std::chrono::minutes(1);  ///< Of an operation that brings none of its own.
    /// Retries of everyone who uses this database, together. Wider than for a remote service: most
    /// reruns here are lost races, not signs of overload.
    BudgetSpec budget{.retry_percent = 100, .floor_per_second = 50};
    BreakerSpec breaker;  ///< Stops asking a database that is away.
    /// A timeout of a step that its caller left less than this tells of the caller, not of the
    /// database: the breaker does not hear of it, else one caller in a hurry could open it for all.
    /// Longer than a healthy database takes to connect or to commit, twice over, as COMMIT gets half.
    Duration fair_time = std::chrono::seconds(1);
    Catalogue catalogue{{}};  ///< The driver's statements, for the modules that have some of their own.
};

/// One database: its sessions, and what is known about how it is doing. Thread-safe.
class Database {
public:
    /// Opens no session yet. Refuses limits that cannot work, naming the one.
    [[nodiscard]] static Result<std::unique_ptr<Database>> create(Connect connect, const DatabaseOptions& options,
                                                                  Clock& clock = system_clock(),
                                                                  Random& random = system_random());

    [[nodiscard]] Pool& pool() noexcept { return pool_; }
    [[nodiscard]] const Policy& retry() const noexcept { return options_.retry; }
    [[nodiscard]] Duration deadline_default() const noexcept { return options_.deadline; }
    [[nodiscard]] Duration fair_time() const noexcept { return options_.fair_time; }
    [[nodiscard]] const Catalogue& catalogue() const noexcept { return options_.catalogue; }
    [[nodiscard]] Budget& budget() noexcept { return budget_; }
    [[nodiscard]] Breaker& breaker() noexcept { return breaker_; }
    [[nodiscard]] Clock& clock() noexcept { return *clock_; }
    [[nodiscard]] Random& random() noexcept { return *random_; }

private:
    Database(Connect connect, const DatabaseOptions& options, Clock& clock, Random& random);

    DatabaseOptions options_;
    Clock* clock_;
    Random* random_;
    Budget budget_;
    Breaker breaker_;
    Pool pool_;
};

}  // namespace semel
