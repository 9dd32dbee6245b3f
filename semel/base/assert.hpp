#pragma once

namespace semel::detail {

/// Prints the broken expectation to standard error and aborts. Never returns.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace semel::detail

/// A programmer's error, checked in every build: carrying on with a broken invariant could
/// acknowledge work that was never done.
#define SEMEL_ASSERT(expression)                          \
    (static_cast<bool>(expression) ? static_cast<void>(0) \
                                   : ::semel::detail::assertion_failed(#expression, __FILE__, __LINE__))
