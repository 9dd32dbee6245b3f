#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <ucontext.h>

namespace semel::simulation {

/// A stack of its own on the one thread of a simulation. Production code runs on it as on a thread, until it asks the
/// clock or a seam to wait: then whoever resumed it goes on. Nothing else switches, so one seed is the whole truth.
class Fiber {
public:
    explicit Fiber(std::function<void()> body);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Runs it until it suspends or ends. Not from within a fiber.
    void resume();
    /// Back to whoever resumed it. Only from within, never while an exception is being handled: the C++ library keeps
    /// those by thread.
    void suspend();
    [[nodiscard]] bool done() const noexcept { return done_; }

private:
    static void enter();
    void run();

    std::function<void()> body_;
    std::unique_ptr<std::byte[]> stack_;
    ucontext_t own_{};
    ucontext_t caller_{};
    bool done_ = false;
    // What AddressSanitizer must know of the two stacks.
    [[maybe_unused]] void* own_fake_ = nullptr;
    [[maybe_unused]] void* caller_fake_ = nullptr;
    [[maybe_unused]] const void* caller_bottom_ = nullptr;
    [[maybe_unused]] std::size_t caller_size_ = 0;
    // And ThreadSanitizer, to which each is a thread.
    [[maybe_unused]] void* own_thread_ = nullptr;
    [[maybe_unused]] void* caller_thread_ = nullptr;
};

}  // namespace semel::simulation
