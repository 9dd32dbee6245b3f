#pragma once

/// Planted bugs: places where the protocol can be broken on purpose, each by a name of its own, so that the tests
/// can be tested. Nothing happens unless one is switched on, and only one is at a time. Compiled out of release.
///
/// A process reads SEMEL_MUTANT="name" once. Tests of one process use a Mutant instead.
#if defined(SEMEL_FAILPOINTS)

#include <string>
#include <string_view>

namespace semel::mutant {

/// Whether the bug of that name is switched on.
[[nodiscard]] bool on(std::string_view name) noexcept;

/// Switches a bug on until it is destroyed. One at a time, and not while others run: what reads it takes no lock.
class Mutant {
public:
    explicit Mutant(std::string name);
    ~Mutant();
    Mutant(const Mutant&) = delete;
    Mutant& operator=(const Mutant&) = delete;

private:
    std::string before_;
};

}  // namespace semel::mutant

#define SEMEL_MUTANT(name) ::semel::mutant::on(name)
#else
#define SEMEL_MUTANT(name) false
#endif
