#pragma once

#include "apps/orders/storage/read.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orders {

inline constexpr std::int64_t page_limit_default = 20;
inline constexpr std::int64_t page_limit_max = 100;

/// Which collection a cursor walks through: it is of no use in another.
enum class Collection : std::uint8_t {
    quotes = 1,
    payments = 2,
    cases = 3,
    enforcement_actions = 4,
    orders = 5,
    tasks = 6,
    assets = 7,
    audit = 8,
    approvals = 9,
    products = 10,
    invoices = 11,
};

/// What `?limit=…&cursor=…` asks for, with one more than the page, which tells whether there is a next. A malformed
/// parameter, one given twice, and one that is neither of these nor among `filters`, is a 400 that names it.
[[nodiscard]] tl::expected<Slice, semel::http::Problem> slice_of(const semel::http::Request& request,
                                                                 Collection collection,
                                                                 std::initializer_list<std::string_view> filters = {});

// What a filter of the query asks for; empty: anything. A malformed value is a 400 that says what is allowed.

/// One of these words.
[[nodiscard]] tl::expected<std::string, semel::http::Problem> filter_choice(const semel::http::Request& request,
                                                                            std::string_view name,
                                                                            std::span<const std::string_view> choices);
/// A code of domain/text.hpp.
[[nodiscard]] tl::expected<std::string, semel::http::Problem> filter_code(const semel::http::Request& request,
                                                                          std::string_view name);
/// None: any.
[[nodiscard]] tl::expected<std::optional<semel::Uuid>, semel::http::Problem> filter_id(
    const semel::http::Request& request, std::string_view name);

/// Where the next page begins, for clients to hand back and not to understand.
[[nodiscard]] std::string cursor_behind(Collection collection, const semel::Uuid& last);

}  // namespace orders
