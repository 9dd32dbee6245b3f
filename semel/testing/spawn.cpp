#include "semel/testing/spawn.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

namespace semel::testing::detail {
namespace {

/// The kernel sends the death signal when the *thread* that forked ends. So one thread forks all
/// children, and it ends only with the process.
class LastingThread {
public:
    LastingThread() {
        std::thread([this] { work(); }).detach();
    }
    [[nodiscard]] pid_t process() const noexcept { return process_; }

    Result<pid_t> call(std::function<Result<pid_t>()> job) {
        std::packaged_task<Result<pid_t>()> task(std::move(job));
        auto result = task.get_future();
        {
            const std::lock_guard guard(mutex_);
            tasks_.push_back(std::move(task));
        }
        changed_.notify_one();
        return result.get();
    }

private:
    void work() {
        for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !tasks_.empty(); });
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
        }
    }

    const pid_t process_ = ::getpid();
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::packaged_task<Result<pid_t>()>> tasks_;
};

LastingThread& lasting_thread() {
    static std::mutex mutex;
    static LastingThread* thread = nullptr;  // Never deleted: see above.
    const std::lock_guard guard(mutex);
    // A forked child has no copy of its parent's threads.
    if (thread == nullptr || thread->process() != ::getpid()) thread = new LastingThread;
    return *thread;
}

struct Identity {
    uid_t user = 0;
    gid_t group = 0;
};

/// All that the child needs, made before the fork: it may not allocate any more.
struct Prepared {
    std::string program;
    std::vector<char*> argv;
    std::vector<char*> environment;
    std::optional<Identity> identity;
    std::string directory;
    std::array<int, 3> standard{};
    int death_signal = SIGKILL;
    int report = -1;  ///< Where the child says what went wrong: which step, errno.
    pid_t parent = 0;
};

constexpr std::array<const char*, 5> step_names{"redirect", "switch user", "change directory", "keep near", "execute"};

[[noreturn]] void become(const Prepared& prepared) noexcept {
    int step = 0;
    const auto give_up = [&] {
        const std::array<int, 2> message{step, errno};
        [[maybe_unused]] const auto written = ::write(prepared.report, message.data(), sizeof message);
        ::_exit(127);
    };
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::setpgid(0, 0);
    for (int target = 0; target < 3; ++target)
        if (::dup2(prepared.standard[static_cast<std::size_t>(target)], target) < 0) give_up();
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);

    step = 1;
    if (prepared.identity) {
        if (::setgroups(0, nullptr) != 0 || ::setgid(prepared.identity->group) != 0 ||
            ::setuid(prepared.identity->user) != 0)
            give_up();
    }
    step = 2;
    if (!prepared.directory.empty() && ::chdir(prepared.directory.c_str()) != 0) give_up();
    step = 3;
    // After the change of user, which clears it.
    if (::prctl(PR_SET_PDEATHSIG, prepared.death_signal) != 0) give_up();
    if (::getppid() != prepared.parent) ::_exit(127);
    step = 4;
    ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.environment.data());
    give_up();
    ::_exit(127);
}

Result<pid_t> fork_and_report(Prepared prepared) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(system_error("make a pipe"));
    const FileDescriptor reading(ends[0]);
    FileDescriptor writing(ends[1]);
    prepared.report = writing.get();
    prepared.parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) become(prepared);
    if (pid < 0) return fail(system_error("fork"));
    writing.reset();
    std::array<int, 2> message{};
    ssize_t got = 0;
    do {
        got = ::read(reading.get(), message.data(), sizeof message);
    } while (got < 0 && errno == EINTR);
    if (got == 0) return pid;  // The pipe closed by itself: the program runs.
    ::waitpid(pid, nullptr, 0);
    const auto step = static_cast<std::size_t>(message[0]);
    return fail(system_error(prepared.program + ": " + step_names.at(step), message[1]));
}

}  // namespace

Result<pid_t> spawn(const Command& command, std::array<int, 3> standard) {
    SEMEL_ASSERT(!command.argv.empty());
    Prepared prepared;
    prepared.program = find_program(command.argv.front());
    if (prepared.program.empty()) return fail(Fault::unavailable, command.argv.front() + ": not found in PATH");
    for (const std::string& argument : command.argv) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
    prepared.argv.push_back(nullptr);
    // The first of two equal names counts.
    for (const std::string& entry : command.environment)
        prepared.environment.push_back(const_cast<char*>(entry.c_str()));
    for (char** entry = ::environ; *entry != nullptr; ++entry) prepared.environment.push_back(*entry);
    prepared.environment.push_back(nullptr);
    if (!command.user.empty()) {
        const passwd* entry = ::getpwnam(command.user.c_str());
        if (entry == nullptr) return fail(Fault::unavailable, "there is no user " + command.user);
        prepared.identity = Identity{.user = entry->pw_uid, .group = entry->pw_gid};
    }
    prepared.directory = command.directory.string();
    prepared.standard = standard;
    prepared.death_signal = command.death_signal;
    return lasting_thread().call([&] { return fork_and_report(prepared); });
}

}  // namespace semel::testing::detail
