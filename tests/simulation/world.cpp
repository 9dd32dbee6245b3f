#include "tests/simulation/world.hpp"

#include "tests/simulation/arena.hpp"
#include "tests/simulation/mutants.hpp"
#include "tests/simulation/roles.hpp"

#include <cstdio>

namespace semel::simulation {
namespace {

/// Enough for every lease, backoff and grace to end several times over.
constexpr Duration rest_within = std::chrono::hours(24);
constexpr std::uint64_t rest_steps_max = 60'000;

}  // namespace

World::World(const RunPlan& plan)
    : plan_(plan),
      random_(plan.seed),
      troubles_(random_),
      store_(arena().clean_store(scheduler_)),
      broker_(*this),
      bank_(*this),
      ledger_(std::make_unique<Ledger>(*this, arena().handle())) {
    for (const Trouble one : plan.without) troubles_.switch_off(one);
    constexpr std::array<std::uint64_t, 3> paces{4, 6, 8};
    pace_ = paces.at(random_.below(paces.size()));
    populate();
}

World::~World() {
    tear_down();
    ledger_.reset();
    arena().give_back(std::move(store_));
}

Catalogue World::catalogue() const noexcept { return planted_catalogue(); }

void World::populate() {
    const auto add = [this](const std::string& name, Role role) {
        processes_.push_back(std::make_unique<Process>(*this, name, random_.next()));
        Process& process = *processes_.back();
        const auto begins = std::chrono::milliseconds(random_.below(2000));
        scheduler_.spawn(name, scheduler_.now() + begins, [this, &process, role] {
            while (!over_) {
                process.restart();
                role(process);
                // Whoever died, or went to be started anew, is away for a while.
                if (!over_)
                    scheduler_.park(scheduler_.now() + std::chrono::milliseconds(process.random().below(20'000)));
            }
        });
    };
    add("client 1", live_as_client);
    add("client 2", live_as_client);
    add("client 3", live_as_client);
    add("relay 1", live_as_relay);
    add("relay 2", live_as_relay);
    add("ledger 1", live_as_ledger_consumer);
    add("ledger 2", live_as_ledger_consumer);
    add("audit", live_as_audit_consumer);
    add("worker", live_as_worker);
    add("sweeper", live_as_sweeper);
    add("operator", live_as_operator);
    add("retention", live_as_retention);
}

void World::violate(int invariant, std::string text) {
    if (violation_ || over_) return;
    note("invariant " + std::to_string(invariant) + " is violated: " + text);
    violation_ = Violation{.invariant = invariant, .text = std::move(text), .step = steps_};
}

void World::note(std::string_view line) const {
    if (!plan_.trace) return;
    const auto at = std::chrono::duration<double>(scheduler_.elapsed()).count();
    std::printf("%6llu %14.6f  %.*s\n", static_cast<unsigned long long>(steps_), at, static_cast<int>(line.size()),
                line.data());
}

RunReport World::run() {
    work();
    if (!violation_) settle();
    RunReport report{.violation = violation_, .steps = steps_, .simulated = scheduler_.elapsed()};
    tear_down();
    for (const Intent& intent : ledger_->intents()) report.effects += static_cast<std::uint64_t>(intent.effects);
    report.events = ledger_->events().size();
    report.troubles = troubles_.describe();
    return report;
}

void World::work() {
    while (steps_ < plan_.steps && !violation_ && scheduler_.step()) {
        ++steps_;
        ledger_->sync();
    }
}

void World::settle() {
    troubles_.stop();
    note("the troubles stop");
    scheduler_.wake_all();
    const Instant until = scheduler_.now() + rest_within;
    const std::uint64_t last = steps_ + rest_steps_max;
    std::string open = "nothing was looked at yet";
    while (!violation_ && !open.empty()) {
        if (scheduler_.now() > until || steps_ >= last) return violate(0, "it does not come to rest: " + open);
        std::ignore = scheduler_.step();
        ++steps_;
        ledger_->sync();
        constexpr std::uint64_t look_every = 16;  // Looking costs more than a step.
        if (steps_ % look_every == 0) open = ledger_->unfinished(std::move(open));
    }
    if (!violation_) ledger_->check_end();
}

void World::tear_down() {
    if (std::exchange(over_, true)) return;
    for (const auto& process : processes_) process->die();
    while (scheduler_.step()) {}
}

}  // namespace semel::simulation
