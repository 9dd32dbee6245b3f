#pragma once

#include "semel/base/result.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace semel::testing {

/// Owns an open file or socket; closes it.
class FileDescriptor {
public:
    FileDescriptor() noexcept = default;
    explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~FileDescriptor() { reset(); }

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
    void reset() noexcept {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    int fd_ = -1;
};

/// The operating system's refusal (errno) as an Error: "open the log: Permission denied".
[[nodiscard]] inline Error system_error(std::string_view what, int code = errno) {
    Error error;
    error.fault = Fault::unavailable;
    error.message.append(what).append(": ").append(std::generic_category().message(code));
    return error;
}

}  // namespace semel::testing
