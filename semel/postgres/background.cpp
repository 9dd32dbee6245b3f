#include "semel/postgres/background.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>

namespace semel::postgres {
namespace {

constexpr int running_max = 32;
std::atomic<int> running{0};

void* run(void* argument) {
    {
        const std::unique_ptr<std::function<void()>> call(static_cast<std::function<void()>*>(argument));
        (*call)();
    }
    running.fetch_sub(1);
    return nullptr;
}

}  // namespace

bool run_in_background(std::function<void()> call) {
    if (running.fetch_add(1) >= running_max) {
        running.fetch_sub(1);
        return false;
    }
    // Not std::thread: it reports a lack of threads by throwing.
    auto owned = std::make_unique<std::function<void()>>(std::move(call));
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, &run, owned.get()) != 0) {
        running.fetch_sub(1);
        return false;
    }
    (void)owned.release();
    pthread_detach(thread);
    return true;
}

}  // namespace semel::postgres
