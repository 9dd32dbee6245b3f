#pragma once

#include "semel/base/decimal.hpp"
#include "semel/http/problem.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace orders {

/// The members of a JSON object that a client sent. Reading never stops at a mistake: what is wrong comes back empty,
/// and `problem` tells of everything that was, so that a client need not find out one mistake at a time.
class Fields {
public:
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

    /// 400 naming the fields, once all have been read; members that nobody asked for are wrong too. None: all is well.
    [[nodiscard]] std::optional<semel::http::Problem> problem() const;

private:
    struct State;
    [[nodiscard]] std::string text(std::string_view name, bool (*is_fine)(std::string_view), std::string_view rule);
    void wrong(std::string_view name, std::string_view what);

    std::unique_ptr<State> state_;
};

}  // namespace orders
