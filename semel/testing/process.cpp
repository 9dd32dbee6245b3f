#include "semel/testing/process.hpp"

#include "semel/testing/spawn.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

std::string contents(const FileDescriptor& file) {
    std::string text;
    struct stat about{};
    if (!file.is_open() || ::fstat(file.get(), &about) != 0) return text;
    text.resize(static_cast<std::size_t>(about.st_size));
    const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
}

/// As a plain system call: the header of glibc 2.36 forgot to say that its function is C.
int open_process(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

/// State letter and parent of every process, from /proc/<pid>/stat.
struct Stat {
    char state = 'X';
    pid_t parent = 0;
};

std::optional<Stat> read_stat(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    // Reading fails when the process ends just now; getline reports that, a stream iterator would throw.
    std::string text;
    std::getline(file, text);
    // The program's name stands in parentheses and may itself hold any character.
    const auto end_of_name = text.rfind(')');
    if (end_of_name == std::string::npos || end_of_name + 4 > text.size()) return std::nullopt;
    Stat stat{.state = text[end_of_name + 2], .parent = 0};
    std::from_chars(text.data() + end_of_name + 4, text.data() + text.size(), stat.parent);
    return stat;
}

}  // namespace

std::string Exit::text() const {
    return signal != 0 ? "ended by signal " + std::to_string(signal) : "ended with code " + std::to_string(code);
}

Result<Process> Process::spawn(const Command& command) {
    Process process;
    FileDescriptor input(::memfd_create("input", MFD_CLOEXEC));
    if (!input.is_open()) return fail(system_error("make an input for a child process"));
    if (::pwrite(input.get(), command.input.data(), command.input.size(), 0) !=
        static_cast<ssize_t>(command.input.size()))
        return fail(system_error("fill the input of a child process"));
    if (command.output_file.empty()) {
        // Files in memory instead of pipes: nobody has to read them for the child to go on.
        process.output_ = FileDescriptor(::memfd_create("output", MFD_CLOEXEC));
        process.error_output_ = FileDescriptor(::memfd_create("error output", MFD_CLOEXEC));
        process.pid_ =
            SEMEL_TRY(detail::spawn(command, {input.get(), process.output_.get(), process.error_output_.get()}));
    } else {
        const FileDescriptor file(::open(command.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
        if (!file.is_open()) return fail(system_error("open " + command.output_file.string()));
        process.pid_ = SEMEL_TRY(detail::spawn(command, {input.get(), file.get(), file.get()}));
    }
    process.owner_ = ::getpid();
    process.handle_ = FileDescriptor(open_process(process.pid_));
    SEMEL_ASSERT(process.handle_.is_open());
    return process;
}

// The emptied object counts as ended.
Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      owner_(other.owner_),
      handle_(std::move(other.handle_)),
      output_(std::move(other.output_)),
      error_output_(std::move(other.error_output_)),
      exit_(std::exchange(other.exit_, Exit{})) {}

Process& Process::operator=(Process&& other) noexcept {
    if (this != &other) {
        if (ours()) kill();
        pid_ = std::exchange(other.pid_, -1);
        owner_ = other.owner_;
        handle_ = std::move(other.handle_);
        output_ = std::move(other.output_);
        error_output_ = std::move(other.error_output_);
        exit_ = std::exchange(other.exit_, Exit{});
    }
    return *this;
}

Process::~Process() {
    if (ours()) kill();
}

std::optional<Exit> Process::wait(Duration limit) {
    if (exit_) return exit_;
    const Instant until = system_clock().now() + limit;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - system_clock().now()).count();
        pollfd ready{.fd = handle_.get(), .events = POLLIN, .revents = 0};
        const int polled = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
        if (polled < 0 && errno == EINTR) continue;
        if (polled <= 0) return std::nullopt;
        int status = 0;
        const pid_t waited = ::waitpid(pid_, &status, WNOHANG);
        if (waited == 0) continue;
        SEMEL_ASSERT(waited == pid_);
        exit_ = WIFSIGNALED(status) ? Exit{.code = 0, .signal = WTERMSIG(status)}
                                    : Exit{.code = WEXITSTATUS(status), .signal = 0};
        return exit_;
    }
}

void Process::signal(int number) const noexcept {
    // Through the handle, so that a reused process id can never be hit.
    if (handle_.is_open()) ::syscall(SYS_pidfd_send_signal, handle_.get(), number, nullptr, 0);
}

void Process::kill() {
    if (exit_) return;
    ::kill(-pid_, SIGKILL);  // The group is ours as long as its leader has not been waited for.
    signal(SIGKILL);
    while (!wait(std::chrono::seconds(1))) {}
}

std::string Process::output() const { return contents(output_); }
std::string Process::error_output() const { return contents(error_output_); }

Result<Finished> run(const Command& command, Duration limit) {
    Process process = SEMEL_TRY(Process::spawn(command));
    const auto exit = process.wait(limit);
    if (!exit) return fail(Fault::unavailable, command.argv.front() + " took too long and was killed");
    return Finished{.exit = *exit, .output = process.output(), .error_output = process.error_output()};
}

std::string find_program(std::string_view name) {
    if (name.find('/') != std::string_view::npos) return std::string(name);
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/sbin:/usr/bin:/sbin:/bin";
    while (!rest.empty()) {
        const std::string_view directory = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(rest.size(), directory.size() + 1));
        std::string candidate = (fs::path(directory) / name).string();
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {};
}

std::vector<pid_t> descendants(pid_t pid) {
    std::multimap<pid_t, pid_t> children;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename().string();
        pid_t number = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc()) continue;
        if (const auto stat = read_stat(number)) children.emplace(stat->parent, number);
    }
    std::vector<pid_t> found{pid};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto [begin, end] = children.equal_range(found[i]);
        for (auto child = begin; child != end; ++child) found.push_back(child->second);
    }
    found.erase(found.begin());
    return found;
}

bool is_alive(pid_t pid) {
    const auto stat = read_stat(pid);
    return stat && stat->state != 'Z' && stat->state != 'X';
}

}  // namespace semel::testing
