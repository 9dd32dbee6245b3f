#include "apps/orders/http/page.hpp"

#include "apps/orders/domain/text.hpp"
#include "semel/base/digest.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace orders {
namespace {

using semel::http::Problem;
namespace problems = semel::http::problems;

tl::unexpected<Problem> unacceptable(const std::string& name, const std::string& what) {
    return tl::unexpected(Problem(problems::validation_failed, "`" + name + "` " + what + ".").with("field", name));
}

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// The id in a cursor: one byte that names the collection, then the id, as hexadecimal digits.
std::optional<semel::Uuid> id_behind(Collection collection, std::string_view cursor) {
    semel::Uuid id;
    if (cursor.size() != 2 + 2 * id.bytes.size()) return std::nullopt;
    for (std::size_t i = 0; i <= id.bytes.size(); ++i) {
        unsigned byte = 0;
        const char* const begin = cursor.data() + 2 * i;
        const auto [end, error] = std::from_chars(begin, begin + 2, byte, 16);
        if (error != std::errc() || end != begin + 2) return std::nullopt;
        if (i == 0 && byte != static_cast<unsigned>(collection)) return std::nullopt;
        if (i > 0) id.bytes[i - 1] = static_cast<std::byte>(byte);
    }
    return id;
}

}  // namespace

tl::expected<Slice, Problem> slice_of(const semel::http::Request& request, Collection collection,
                                      std::initializer_list<std::string_view> filters) {
    Slice slice{.limit = page_limit_default + 1};
    for (const auto& [name, value] : request.query) {
        if (std::ranges::count(request.query, name, &semel::http::Parameter::first) > 1)
            return unacceptable(name.substr(0, 64), "is given more than once");
        if (name == "limit") {
            const auto limit = number_of(value);
            if (!limit || *limit < 1 || *limit > page_limit_max)
                return unacceptable(name, "is a whole number from 1 to " + std::to_string(page_limit_max));
            slice.limit = *limit + 1;
        } else if (name == "cursor") {
            const auto id = id_behind(collection, value);
            if (!id) return unacceptable(name, "is not one that this collection gave out; begin again without it");
            slice.after = *id;
        } else if (std::ranges::find(filters, name) == filters.end()) {
            std::string known = "is no parameter of this collection; there are `limit`, `cursor`";
            for (const std::string_view filter : filters) known += ", `" + std::string(filter) + "`";
            return unacceptable(name.substr(0, 64), known);
        }
    }
    return slice;
}

tl::expected<std::string, Problem> filter_choice(const semel::http::Request& request, std::string_view name,
                                                 std::span<const std::string_view> choices) {
    const auto value = request.parameter(name);
    if (!value) return std::string();
    if (std::ranges::find(choices, *value) != choices.end()) return std::string(*value);
    std::string known;
    for (const std::string_view choice : choices) known += (known.empty() ? "" : ", ") + std::string(choice);
    return unacceptable(std::string(name), "is one of " + known);
}

tl::expected<std::string, Problem> filter_code(const semel::http::Request& request, std::string_view name) {
    const auto value = request.parameter(name);
    if (!value) return std::string();
    if (is_code(*value)) return std::string(*value);
    return unacceptable(std::string(name), "is 1 to 64 letters, digits, dots, underscores, colons or hyphens");
}

tl::expected<std::optional<semel::Uuid>, Problem> filter_id(const semel::http::Request& request,
                                                            std::string_view name) {
    const auto value = request.parameter(name);
    if (!value) return std::nullopt;
    const auto id = semel::Uuid::parse(*value);
    if (!id) return unacceptable(std::string(name), "is a UUID, as in 0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12");
    return *id;
}

std::string cursor_behind(Collection collection, const semel::Uuid& last) {
    const auto tag = static_cast<std::byte>(collection);
    return semel::hex(semel::BytesView(&tag, 1)) + semel::hex(last.bytes);
}

}  // namespace orders
