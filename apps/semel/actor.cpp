#include "apps/semel/actor.hpp"

#include <fmt/format.h>

#include <pwd.h>
#include <unistd.h>

#include <array>

namespace semel::app {

std::string actor_of(const std::string& given) {
    if (!given.empty()) return given;
    const passwd* user = ::getpwuid(::geteuid());
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    return fmt::format("{}@{}", user != nullptr ? user->pw_name : std::to_string(::geteuid()), host.data());
}

}  // namespace semel::app
