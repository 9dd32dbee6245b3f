#pragma once

#include "semel/base/result.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace semel::detail {

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<Result<T>> = true;

/// Calls an attempt, with its number if it wants it.
template <class F>
decltype(auto) call_attempt(F& attempt, std::uint32_t number) {
    if constexpr (std::invocable<F&, std::uint32_t>) {
        return attempt(number);
    } else {
        return attempt();
    }
}

template <class F>
using AttemptResult = std::remove_cvref_t<decltype(call_attempt(std::declval<F&>(), 0))>;

}  // namespace semel::detail
