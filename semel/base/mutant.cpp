#include "semel/base/mutant.hpp"

#if defined(SEMEL_FAILPOINTS)

#include <cstdlib>
#include <utility>

namespace semel::mutant {
namespace {

std::string& switched_on() {
    static std::string name = [] {
        const char* text = std::getenv("SEMEL_MUTANT");
        return std::string(text == nullptr ? "" : text);
    }();
    return name;
}

}  // namespace

bool on(std::string_view name) noexcept {
    const std::string& current = switched_on();
    return !current.empty() && current == name;
}

Mutant::Mutant(std::string name) : before_(std::exchange(switched_on(), std::move(name))) {}

Mutant::~Mutant() { switched_on() = std::move(before_); }

}  // namespace semel::mutant

#endif
