#pragma once

/// Named places where a process can be made to die or pause. Crash tests enumerate the names from
/// the source, so each stands between two durable steps and is unique. Compiled out of release.
///
/// A process reads SEMEL_FAILPOINTS="name=kill,other=kill@3" once: `kill` raises SIGKILL on the
/// first visit, `kill@n` on the nth, having written the name to the file SEMEL_FAILPOINT_LOG if there is one. Tests of one
/// process install a hook instead.
#if defined(SEMEL_FAILPOINTS)

#include <functional>
#include <string_view>

namespace semel::failpoint {

/// Visits the failpoint: calls the hook if there is one, then does what the environment says.
void visit(const char* name);

/// Calls `hook` on every visit until the returned guard is destroyed. One at a time.
class Hook {
public:
    explicit Hook(std::function<void(std::string_view)> hook);
    ~Hook();
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;
};

}  // namespace semel::failpoint

#define SEMEL_FAILPOINT(name) ::semel::failpoint::visit(name)
#else
#define SEMEL_FAILPOINT(name) static_cast<void>(0)
#endif
