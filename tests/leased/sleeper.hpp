#pragma once

#include "semel/base/failpoint.hpp"

#include <latch>
#include <mutex>
#include <string>
#include <string_view>

namespace semel::leased {

/// Puts the first who comes to a failpoint to sleep until `wake`: to everyone else it is as good as dead, and later
/// it goes on as if nothing had happened, which no crash can do. Others pass.
class Sleeper {
public:
    explicit Sleeper(std::string_view place) : place_(place), hook_([this](std::string_view name) { visit(name); }) {}
    ~Sleeper() { wake(); }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    void await_asleep() { asleep_.wait(); }
    void wake() {
        const std::lock_guard guard(mutex_);
        if (!std::exchange(woken_, true)) awake_.count_down();
    }

private:
    void visit(std::string_view name) {
        if (name != place_) return;
        {
            const std::lock_guard guard(mutex_);
            if (std::exchange(visited_, true)) return;
        }
        asleep_.count_down();
        awake_.wait();
    }

    std::string place_;
    std::mutex mutex_;
    bool visited_ = false;
    bool woken_ = false;
    std::latch asleep_{1};
    std::latch awake_{1};
    failpoint::Hook hook_;
};

}  // namespace semel::leased
