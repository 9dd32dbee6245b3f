#pragma once

#include "semel/db/database.hpp"
#include "tests/simulation/scheduler.hpp"
#include "tests/simulation/trouble.hpp"

#include <memory>
#include <string>

namespace semel::simulation {

class World;

/// One process of the simulated system, and the clock that its code goes by. When it dies, nothing that its code
/// still asks for happens: every seam refuses, every wait is over at once, and the code finds its own way out. That
/// ends as a kill does, and leaves nothing behind that a simulation of a hundred thousand runs would have to collect.
class Process final : public Clock {
public:
    Process(World& world, std::string name, std::uint64_t seed)
        : world_(&world), name_(std::move(name)), random_(seed) {}

    [[nodiscard]] Instant now() const noexcept override;
    [[nodiscard]] Timestamp wall() const noexcept override;
    Wake wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& condition, Instant until,
              std::stop_token stop) override;

    /// Lets time pass.
    void pause(Duration duration);
    /// Lets time pass until the next thing to do; ends early when the troubles do.
    void sleep_for(Duration duration);
    /// The way of one message: mostly short, now and then long. Others go on meanwhile.
    void travel();

    [[nodiscard]] bool alive() const noexcept { return alive_; }
    void die();
    void restart();
    /// Dies here, if it is to.
    [[nodiscard]] bool killed();

    /// Sessions of its own to the store of the world, with all that can happen on the way.
    [[nodiscard]] std::unique_ptr<Database> open_database();

    /// Of the relay that lives in it, if one does.
    void be_relay(std::string id) { relay_ = std::move(id); }
    [[nodiscard]] const std::string& relay() const noexcept { return relay_; }

    [[nodiscard]] World& world() noexcept { return *world_; }
    [[nodiscard]] Random& random() noexcept { return random_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    World* world_;
    std::string name_;
    SeededRandom random_;
    std::string relay_;
    Duration skew_{};  ///< Of its calendar.
    Instant dead_now_{};
    bool alive_ = true;
};

}  // namespace semel::simulation
