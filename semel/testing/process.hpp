#pragma once

#include "semel/base/result.hpp"
#include "semel/testing/file_descriptor.hpp"

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::testing {

/// What to run, and how.
struct Command {
    std::vector<std::string> argv;           ///< The program is looked up in PATH unless it has a slash.
    std::string user{};                      ///< Runs as this user; empty: as ourselves.
    std::string input{};                     ///< All that it can read from its standard input.
    std::vector<std::string> environment{};  ///< NAME=value, on top of ours.
    std::filesystem::path directory{};       ///< Where it runs; empty: where we are.
    std::filesystem::path output_file{};     ///< Both outputs are appended here; empty: they are kept for `output`.
    int death_signal = SIGKILL;              ///< What it gets when our process dies, however that happens.
};

/// How a process ended: by a code of its own, or by a signal.
struct Exit {
    int code = 0;    ///< Meaningful when `signal` is 0.
    int signal = 0;  ///< The signal that ended it; 0: it ended by itself.
    [[nodiscard]] bool success() const noexcept { return code == 0 && signal == 0; }
    [[nodiscard]] std::string text() const;
};

/// A child process in a process group of its own. It cannot outlive us: the destructor kills it,
/// and the kernel does if we die without one. One thread at a time; `signal` from any.
class Process {
public:
    /// An Error says which step failed: no such program, no such user, no permission to switch.
    [[nodiscard]] static Result<Process> spawn(const Command& command);
    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;
    ~Process();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// Waits up to `limit`; empty means that it still runs.
    [[nodiscard]] std::optional<Exit> wait(Duration limit);
    [[nodiscard]] bool running() { return !wait(Duration::zero()); }
    void signal(int number) const noexcept;
    /// Kills it and everything in its group, and waits until it is gone.
    void kill();

    /// What it has written so far; empty when it writes to a file.
    [[nodiscard]] std::string output() const;
    [[nodiscard]] std::string error_output() const;

private:
    Process() = default;
    [[nodiscard]] bool ours() const noexcept { return handle_.is_open() && owner_ == ::getpid(); }
    pid_t pid_ = -1;
    pid_t owner_ = -1;  ///< A forked copy of this object must not end the original's child.
    FileDescriptor handle_;
    FileDescriptor output_;
    FileDescriptor error_output_;
    std::optional<Exit> exit_;
};

/// Everything a finished process left.
struct Finished {
    Exit exit;
    std::string output;
    std::string error_output;
};

/// Runs to the end. A process that takes longer than `limit` is killed, and that is an Error.
[[nodiscard]] Result<Finished> run(const Command& command, Duration limit);

/// The path of a program in PATH, or the same text if it has a slash; empty: not there.
[[nodiscard]] std::string find_program(std::string_view name);

/// Children of a process, their children, and so on, as of now.
[[nodiscard]] std::vector<pid_t> descendants(pid_t pid);
/// Whether the process exists and has not ended; one that nobody has waited for has ended.
[[nodiscard]] bool is_alive(pid_t pid);

}  // namespace semel::testing
