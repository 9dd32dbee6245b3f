#include "apps/orders/domain/money.hpp"

#include <algorithm>
#include <string>

namespace orders {
namespace {

bool is_digits(std::string_view text) noexcept {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

semel::Result<semel::Decimal> parse_money(std::string_view text) {
    const auto point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
    const bool acceptable = is_digits(whole) && whole.size() <= static_cast<std::size_t>(money_digits_max) &&
                            is_digits(fraction) && fraction.size() <= static_cast<std::size_t>(money_scale_max);
    if (!acceptable)
        return semel::fail(semel::Fault::rejected, "is written as \"12.50\": up to " +
                                                       std::to_string(money_digits_max) + " digits, and up to " +
                                                       std::to_string(money_scale_max) + " behind the point");
    return semel::Decimal::parse(text);
}

}  // namespace orders
