#pragma once

#include "semel/base/decimal.hpp"
#include "semel/base/digest.hpp"
#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace semel {

/// JSON text, kept as written. PostgreSQL: json or jsonb; SQLite: TEXT.
struct Json {
    std::string text;
    friend bool operator==(const Json&, const Json&) = default;
};
struct JsonView {
    std::string_view text;
};

/// One value on its way to the database. Borrows texts and bytes from the caller: a session that
/// keeps a parameter past the call copies it.
///
/// In SQLite a decimal, UUID, timestamp (ISO 8601, UTC, microseconds) and JSON are TEXT, bytes are
/// BLOB and a bool is INTEGER; in PostgreSQL each has its own type.
using Parameter = std::variant<std::monostate, bool, std::int64_t, double, Decimal, std::string_view, BytesView, Uuid,
                               Timestamp, JsonView>;

namespace detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

}  // namespace detail

/// Anything a statement accepts as a value. Unsigned 64-bit numbers are left out on purpose: no
/// database column holds them.
template <class T>
[[nodiscard]] Parameter parameter(const T& value) {
    if constexpr (std::same_as<T, std::nullptr_t> || std::same_as<T, std::nullopt_t>) {
        return std::monostate{};
    } else if constexpr (detail::IsOptional<T>::value) {
        return value ? parameter(*value) : Parameter(std::monostate{});
    } else if constexpr (std::same_as<T, bool>) {
        return value;
    } else if constexpr (std::integral<T>) {
        static_assert(std::signed_integral<T> || sizeof(T) < sizeof(std::int64_t),
                      "no column holds a 64-bit unsigned number");
        return static_cast<std::int64_t>(value);
    } else if constexpr (std::floating_point<T>) {
        return static_cast<double>(value);
    } else if constexpr (std::same_as<T, Json>) {
        return JsonView{value.text};
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        return std::string_view(value);
    } else if constexpr (std::convertible_to<const T&, BytesView>) {
        return BytesView(value);
    } else if constexpr (std::convertible_to<const T&, Timestamp>) {
        return Timestamp(value);
    } else {
        return Parameter(value);
    }
}

/// The calendar form both databases read and write: 2026-01-31T23:59:59.123456Z.
[[nodiscard]] std::string timestamp_text(Timestamp);
/// Reads the form above, and PostgreSQL's own ("2026-01-31 23:59:59.5+00") in any offset.
[[nodiscard]] Result<Timestamp> parse_timestamp(std::string_view text);

}  // namespace semel
