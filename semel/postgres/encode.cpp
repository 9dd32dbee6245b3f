#include "semel/postgres/encode.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

namespace semel::postgres {
namespace {

constexpr int format_null = -1;
constexpr int format_text = 0;
constexpr int format_binary = 1;
constexpr std::size_t parameters_max = 65535;                   // The protocol counts them in 16 bits.
constexpr std::size_t value_bytes_max = std::size_t{1} << 30U;  // No field of PostgreSQL's is larger.

}  // namespace

Result<Arena::Range> Arena::add(std::span<const Parameter> parameters, std::optional<std::int64_t> last) {
    const Range range{values_.size(), parameters.size() + (last ? 1 : 0)};
    if (range.count > parameters_max) return fail(Fault::rejected, "a statement has more than 65535 parameters");
    for (const Parameter& parameter : parameters) SEMEL_TRY(add_one(parameter));
    if (last) SEMEL_TRY(add_one(Parameter(*last)));
    return range;
}

Status Arena::add_one(const Parameter& parameter) {
    return std::visit(
        [this](const auto& value) -> Status {
            using T = std::decay_t<decltype(value)>;
            char digits[32];
            if constexpr (std::is_same_v<T, std::monostate>) {
                values_.push_back({0, 0, format_null});
            } else if constexpr (std::is_same_v<T, bool>) {
                add_text(value ? "t" : "f");
            } else if constexpr (std::is_same_v<T, double>) {
                if (!std::isfinite(value)) {
                    add_text(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
                    return {};
                }
                // The shortest text that reads back as the same number.
                add_text({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
            } else if constexpr (std::is_same_v<T, std::int64_t>) {
                add_text({digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
            } else if constexpr (std::is_same_v<T, Timestamp>) {
                add_text(timestamp_text(value));
            } else if constexpr (std::is_same_v<T, BytesView>) {
                if (value.size() >= value_bytes_max) return fail(Fault::rejected, "a value is larger than 1 GiB");
                values_.push_back({bytes_.size(), static_cast<int>(value.size()), format_binary});
                bytes_.append(reinterpret_cast<const char*>(value.data()), value.size());
                bytes_.push_back('\0');
            } else if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, JsonView>) {
                std::string_view text;
                if constexpr (std::is_same_v<T, JsonView>)
                    text = value.text;
                else
                    text = value;
                if (text.size() >= value_bytes_max) return fail(Fault::rejected, "a value is larger than 1 GiB");
                // libpq would cut it there, silently.
                if (text.find('\0') != std::string_view::npos) {
                    return fail(Fault::rejected,
                                "a text holds a zero byte, which PostgreSQL cannot store; send it as bytes");
                }
                add_text(text);
            } else {
                add_text(value.text());
            }
            return {};
        },
        parameter);
}

void Arena::add_text(std::string_view text) {
    values_.push_back({bytes_.size(), static_cast<int>(text.size()), format_text});
    bytes_.append(text);
    bytes_.push_back('\0');
}

Arguments Arena::arguments(Range range) {
    if (range.count == 0) return {};
    pointers_.clear();
    lengths_.clear();
    formats_.clear();
    for (const Value& value : std::span(values_).subspan(range.first, range.count)) {
        pointers_.push_back(value.format == format_null ? nullptr : bytes_.data() + value.offset);
        lengths_.push_back(value.length);
        formats_.push_back(value.format == format_binary ? format_binary : format_text);
    }
    return {static_cast<int>(range.count), pointers_.data(), lengths_.data(), formats_.data()};
}

void Arena::clear() noexcept {
    // One transaction with huge values must not hold its memory for the life of the session.
    constexpr std::size_t bytes_kept_max = std::size_t{4} << 20U;
    if (bytes_.capacity() > bytes_kept_max) std::string().swap(bytes_);
    bytes_.clear();
    values_.clear();
}

}  // namespace semel::postgres
