#include "semel/testing/temp_dir.hpp"

#include "semel/base/random.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>

#include <cstdlib>
#include <mutex>
#include <set>

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "semel-test-";
constexpr std::string_view lock_name = "owned-by-a-live-process";

/// Deletes directories whose maker is gone. The lock tells, not a process id: those are reused,
/// and mean something else in another container that shares the directory.
void sweep_orphans(const fs::path& parent) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(parent, ignored)) {
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        const FileDescriptor lock(::open((entry.path() / lock_name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        if (!lock.is_open() || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
        fs::remove_all(entry.path(), ignored);
    }
}

bool nobody_listens(int port) {
    const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
           ::listen(socket.get(), 1) == 0;
}

}  // namespace

Result<TempDir> TempDir::make(std::string_view purpose, const std::string& owner) {
    std::error_code failed;
    const fs::path parent = fs::temp_directory_path(failed);
    if (failed) return fail(system_error("find the temporary directory", failed.value()));
    sweep_orphans(parent);

    std::string name = (parent / (std::string(prefix) + std::string(purpose) + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) return fail(system_error("make a directory in " + parent.string()));
    TempDir dir;
    dir.path_ = name;
    dir.owner_process_ = ::getpid();
    // Locked under another name first: a sweeper must never see the lock free.
    const fs::path unlocked = dir.path_ / "not-yet-owned";
    dir.lock_ = FileDescriptor(::open(unlocked.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!dir.lock_.is_open() || ::flock(dir.lock_.get(), LOCK_EX | LOCK_NB) != 0 ||
        ::rename(unlocked.c_str(), (dir.path_ / lock_name).c_str()) != 0)
        return fail(system_error("lock " + name));
    if (!owner.empty()) {
        const passwd* entry = ::getpwnam(owner.c_str());
        if (entry == nullptr) return fail(Fault::unavailable, "there is no user " + owner);
        if (::chown(name.c_str(), entry->pw_uid, entry->pw_gid) != 0)
            return fail(system_error("give " + name + " to " + owner));
    }
    return dir;
}

TempDir::TempDir(TempDir&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)), owner_process_(other.owner_process_) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
    if (this != &other) {
        remove();
        path_ = std::exchange(other.path_, {});
        lock_ = std::move(other.lock_);
        owner_process_ = other.owner_process_;
    }
    return *this;
}

TempDir::~TempDir() { remove(); }

void TempDir::remove() noexcept {
    // A forked copy of this object must not take the original's files away.
    if (path_.empty() || owner_process_ != ::getpid()) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

Result<int> free_port() {
    constexpr int first = 15'000;
    constexpr int last = 31'999;  // The kernel's own range starts at 32768.
    static std::mutex mutex;
    static std::set<int> handed_out;
    const std::lock_guard guard(mutex);
    for (int attempt = 0; attempt < 1'000; ++attempt) {
        const int port = first + static_cast<int>(system_random().below(last - first + 1));
        if (!handed_out.contains(port) && nobody_listens(port)) {
            handed_out.insert(port);
            return port;
        }
    }
    return fail(Fault::unavailable, "no free port on loopback");
}

}  // namespace semel::testing
