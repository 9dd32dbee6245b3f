#pragma once

#include "apps/orders/storage/read.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace orders {

inline constexpr std::int64_t page_limit_default = 20;
inline constexpr std::int64_t page_limit_max = 100;

/// Which collection a cursor walks through: it is of no use in another.
enum class Collection : std::uint8_t { quotes = 1, payments = 2, cases = 3, enforcement_actions = 4 };

/// What `?limit=…&cursor=…` asks for, with one more than the page, which tells whether there is a next. A malformed
/// or unknown parameter is a 400 that names it.
[[nodiscard]] tl::expected<Slice, semel::http::Problem> slice_of(const semel::http::Request& request,
                                                                 Collection collection);

/// Where the next page begins, for clients to hand back and not to understand.
[[nodiscard]] std::string cursor_behind(Collection collection, const semel::Uuid& last);

}  // namespace orders
