#pragma once

#include "semel/base/assert.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace semel::rabbitmq {

/// Ends a `poll` from another thread. Thread-safe.
class Waker {
public:
    Waker() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { SEMEL_ASSERT(fd_ >= 0); }
    ~Waker() { ::close(fd_); }
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;

    void wake() noexcept {
        const std::uint64_t one = 1;
        // It can only fail if there are billions of wakes already.
        [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
    }
    /// Whether there was a wake since the last time.
    [[nodiscard]] bool take() noexcept {
        std::uint64_t count = 0;
        return ::read(fd_, &count, sizeof count) == sizeof count;
    }
    [[nodiscard]] int fd() const noexcept { return fd_; }

private:
    int fd_;
};

}  // namespace semel::rabbitmq
