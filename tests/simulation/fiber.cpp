#include "tests/simulation/fiber.hpp"

#include "semel/base/assert.hpp"

#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace semel::simulation {
namespace {

/// SQLite's parser and the sanitizers are the deepest that run here.
constexpr std::size_t stack_bytes = std::size_t{512} << 10U;

Fiber* starting = nullptr;  // `makecontext` passes integers only.

/// Stacks are used again: mapping one costs more than a whole simulated transaction.
std::vector<std::unique_ptr<std::byte[]>>& spare_stacks() {
    static std::vector<std::unique_ptr<std::byte[]>> stacks;
    return stacks;
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
    auto& spare = spare_stacks();
    if (spare.empty()) {
        stack_ = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
    } else {
        stack_ = std::move(spare.back());
        spare.pop_back();
    }
    SEMEL_ASSERT(getcontext(&own_) == 0);
    own_.uc_stack.ss_sp = stack_.get();
    own_.uc_stack.ss_size = stack_bytes;
    own_.uc_link = nullptr;
    makecontext(&own_, &Fiber::enter, 0);
#if defined(__SANITIZE_THREAD__)
    own_thread_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
    SEMEL_ASSERT(done_ && "a fiber is run to its end, so that what it holds is destroyed");
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(own_thread_);
#endif
    spare_stacks().push_back(std::move(stack_));
}

void Fiber::enter() { std::exchange(starting, nullptr)->run(); }

void Fiber::run() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &caller_bottom_, &caller_size_);
#endif
    body_();
    body_ = nullptr;
    done_ = true;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(nullptr, caller_bottom_, caller_size_);
#elif defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(caller_thread_, 0);
#endif
    setcontext(&caller_);
}

void Fiber::resume() {
    SEMEL_ASSERT(!done_);
    starting = this;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&caller_fake_, stack_.get(), stack_bytes);
#elif defined(__SANITIZE_THREAD__)
    caller_thread_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(own_thread_, 0);
#endif
    swapcontext(&caller_, &own_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(caller_fake_, nullptr, nullptr);
#endif
}

void Fiber::suspend() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&own_fake_, caller_bottom_, caller_size_);
#elif defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(caller_thread_, 0);
#endif
    swapcontext(&own_, &caller_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(own_fake_, &caller_bottom_, &caller_size_);
#endif
}

}  // namespace semel::simulation
