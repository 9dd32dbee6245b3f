#include "apps/orders/http/page.hpp"

#include "semel/base/digest.hpp"

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

tl::expected<Slice, Problem> slice_of(const semel::http::Request& request, Collection collection) {
    Slice slice{.limit = page_limit_default + 1};
    for (const auto& [name, value] : request.query) {
        if (name == "limit") {
            const auto limit = number_of(value);
            if (!limit || *limit < 1 || *limit > page_limit_max)
                return unacceptable(name, "is a whole number from 1 to " + std::to_string(page_limit_max));
            slice.limit = *limit + 1;
        } else if (name == "cursor") {
            const auto id = id_behind(collection, value);
            if (!id) return unacceptable(name, "is not one that this collection gave out; begin again without it");
            slice.after = *id;
        } else {
            return unacceptable(name.substr(0, 64),
                                "is no parameter of this collection; there are `limit` and `cursor`");
        }
    }
    return slice;
}

std::string cursor_behind(Collection collection, const semel::Uuid& last) {
    const auto tag = static_cast<std::byte>(collection);
    return semel::hex(semel::BytesView(&tag, 1)) + semel::hex(last.bytes);
}

}  // namespace orders
