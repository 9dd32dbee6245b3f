#pragma once

#include "semel/base/decimal.hpp"
#include "semel/base/id.hpp"
#include "semel/base/time.hpp"
#include "semel/http/problem.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orders {

/// The members of a JSON object that a client sent. Reading never stops at a mistake: what is wrong comes back empty,
/// and `problem` tells of everything that was, so that a client need not find out one mistake at a time.
class Fields {
public:
    /// No body at all is an object without members.
    explicit Fields(std::string_view body);
    ~Fields();
    Fields(const Fields&) = delete;
    Fields& operator=(const Fields&) = delete;

    /// See domain/text.hpp and domain/money.hpp for what is allowed.
    [[nodiscard]] std::string code(std::string_view name);
    [[nodiscard]] std::string currency(std::string_view name);
    [[nodiscard]] std::string subject(std::string_view name);
    [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most);
    [[nodiscard]] semel::Decimal price(std::string_view name);   ///< From zero.
    [[nodiscard]] semel::Decimal amount(std::string_view name);  ///< More than zero.
    [[nodiscard]] semel::Uuid id(std::string_view name);
    /// One of these words.
    [[nodiscard]] std::string choice(std::string_view name, std::span<const std::string_view> choices);

    // What may be left out: then it is empty.
    [[nodiscard]] std::string code_or_none(std::string_view name);
    [[nodiscard]] std::string subject_or_none(std::string_view name);
    [[nodiscard]] std::string date_or_none(std::string_view name);  ///< "2026-12-01", a day that there is.
    [[nodiscard]] std::optional<std::int64_t> integer_or_none(std::string_view name, std::int64_t least,
                                                              std::int64_t most);
    [[nodiscard]] std::optional<semel::Decimal> price_or_none(std::string_view name);
    [[nodiscard]] std::optional<semel::Timestamp> time_or_none(std::string_view name);  ///< As RFC 3339 has it.

    /// 400 naming the fields, once all have been read; members that nobody asked for are wrong too. None: all is well.
    [[nodiscard]] std::optional<semel::http::Problem> problem() const;

private:
    struct State;
    [[nodiscard]] bool has(std::string_view name);
    [[nodiscard]] std::string text(std::string_view name, bool (*is_fine)(std::string_view), std::string_view rule);
    void wrong(std::string_view name, std::string_view what);

    std::unique_ptr<State> state_;
};

}  // namespace orders
