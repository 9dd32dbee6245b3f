#include "semel/base/failpoint.hpp"

#if defined(SEMEL_FAILPOINTS)

#include "semel/base/assert.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace semel::failpoint {
namespace {

struct Registry {
    std::mutex mutex;
    std::map<std::string, int, std::less<>> kill_on_visit;  ///< Visits left until SIGKILL.
    std::shared_ptr<std::function<void(std::string_view)>> hook;
    std::atomic<bool> armed = false;

    Registry() {
        const char* text = std::getenv("SEMEL_FAILPOINTS");
        if (text != nullptr) read(text);
        armed = !kill_on_visit.empty();
    }

    /// A misspelt action must not turn a crash test into one that cannot fail: it aborts.
    void read(std::string_view text) {
        while (!text.empty()) {
            const std::string_view entry = text.substr(0, text.find(','));
            text.remove_prefix(std::min(text.size(), entry.size() + 1));
            const auto equals = entry.find('=');
            SEMEL_ASSERT(equals != std::string_view::npos && "SEMEL_FAILPOINTS wants name=kill or name=kill@n");
            std::string_view action = entry.substr(equals + 1);
            SEMEL_ASSERT(action.starts_with("kill") && "the only action of SEMEL_FAILPOINTS is kill");
            action.remove_prefix(4);
            int visits = 1;
            if (!action.empty()) {
                SEMEL_ASSERT(action.front() == '@' && "SEMEL_FAILPOINTS wants name=kill@n");
                const auto [end, error] = std::from_chars(action.data() + 1, action.data() + action.size(), visits);
                SEMEL_ASSERT(error == std::errc() && end == action.data() + action.size() && visits > 0);
            }
            kill_on_visit.emplace(entry.substr(0, equals), visits);
        }
    }
};

/// Leaves its name in the file that SEMEL_FAILPOINT_LOG names, if it does: the list of where processes were killed.
void die_at(const char* name) {
    if (const char* path = std::getenv("SEMEL_FAILPOINT_LOG")) {
        const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        const std::string line = std::string(name) + "\n";
        static_cast<void>(!::write(file, line.data(), line.size()));
        ::close(file);
    }
    std::raise(SIGKILL);
}

Registry& registry() {
    static Registry instance;
    return instance;
}

}  // namespace

void visit(const char* name) {
    Registry& all = registry();
    if (!all.armed.load(std::memory_order_relaxed)) return;
    std::shared_ptr<std::function<void(std::string_view)>> hook;
    {
        const std::lock_guard guard(all.mutex);
        hook = all.hook;
        const auto found = all.kill_on_visit.find(std::string_view(name));
        if (found != all.kill_on_visit.end() && --found->second == 0) die_at(name);
    }
    if (hook) (*hook)(name);
}

Hook::Hook(std::function<void(std::string_view)> hook) {
    Registry& all = registry();
    const std::lock_guard guard(all.mutex);
    SEMEL_ASSERT(!all.hook && "one failpoint hook at a time");
    all.hook = std::make_shared<std::function<void(std::string_view)>>(std::move(hook));
    all.armed = true;
}

Hook::~Hook() {
    Registry& all = registry();
    const std::lock_guard guard(all.mutex);
    all.hook.reset();
    all.armed = !all.kill_on_visit.empty();
}

}  // namespace semel::failpoint

#endif
