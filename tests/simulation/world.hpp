#pragma once

#include "semel/sqlite/store.hpp"
#include "tests/simulation/bank.hpp"
#include "tests/simulation/broker.hpp"
#include "tests/simulation/ledger.hpp"
#include "tests/simulation/process.hpp"
#include "tests/simulation/scheduler.hpp"
#include "tests/simulation/trouble.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace semel::simulation {

/// What one run is made of: the same plan gives the same run.
struct RunPlan {
    std::uint64_t seed = 1;
    std::uint64_t steps = 400;
    std::vector<Trouble> without{};  ///< Troubles that do not strike: for shrinking.
    bool trace = false;
};

struct Violation {
    int invariant = 0;  ///< Of the design; 0: it never came to rest.
    std::string text;
    std::uint64_t step = 0;
};

struct RunReport {
    std::optional<Violation> violation;
    std::uint64_t steps = 0;  ///< Those after the troubles stopped included.
    Duration simulated{};
    std::uint64_t effects = 0;
    std::uint64_t events = 0;
    std::string troubles{};
};

/// One simulated system from its first step to its rest: the processes, what they share, and what can go wrong.
class World {
public:
    explicit World(const RunPlan& plan);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    [[nodiscard]] RunReport run();

    /// An invariant does not hold. The first counts.
    void violate(int invariant, std::string text);
    /// A line for whoever reads a trace.
    void note(std::string_view line) const;

    [[nodiscard]] Scheduler& scheduler() noexcept { return scheduler_; }
    [[nodiscard]] Troubles& troubles() noexcept { return troubles_; }
    [[nodiscard]] sqlite::Store& store() noexcept { return *store_; }
    [[nodiscard]] Catalogue catalogue() const noexcept;
    [[nodiscard]] Broker& broker() noexcept { return broker_; }
    [[nodiscard]] Bank& bank() noexcept { return bank_; }
    [[nodiscard]] Ledger& ledger() noexcept { return *ledger_; }
    [[nodiscard]] Random& random() noexcept { return random_; }
    /// Nothing new is begun; what was begun comes to its end.
    [[nodiscard]] bool settling() const noexcept { return troubles_.stopped(); }
    /// How long clients take to think, in powers of ten.
    [[nodiscard]] std::uint64_t pace() const noexcept { return pace_; }
    [[nodiscard]] bool over() const noexcept { return over_; }
    [[nodiscard]] std::int64_t next_call() noexcept { return ++calls_; }

private:
    void populate();
    void work();
    void settle();
    void tear_down();

    RunPlan plan_;
    SeededRandom random_;
    Troubles troubles_;
    Scheduler scheduler_;
    std::shared_ptr<sqlite::Store> store_;
    Broker broker_;
    Bank bank_;
    std::unique_ptr<Ledger> ledger_;
    std::vector<std::unique_ptr<Process>> processes_;
    std::optional<Violation> violation_;
    std::uint64_t steps_ = 0;
    std::int64_t calls_ = 0;
    std::uint64_t pace_ = 4;
    bool over_ = false;
};

}  // namespace semel::simulation
