#include "semel/http/context_headers.hpp"

#include "semel/base/id.hpp"

#include <algorithm>
#include <array>

namespace semel::http {
namespace {

constexpr bool is_correlation_character(char c) noexcept {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return std::string_view("-_.:/+=@").find(c) != std::string_view::npos;
}

}  // namespace

Result<RetryContext> read_context(const Headers& headers, Instant now) {
    constexpr std::array names = {deadline_header, attempt_header, retry_owner_header};
    std::array<const std::string*, names.size()> values{};
    for (const Headers::Field& field : headers) {
        // All three begin alike, which spares most fields the comparison.
        if (field.name.size() < 2 || field.name[1] != '-') continue;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (!same_name(field.name, names[i])) continue;
            if (values[i] != nullptr) return fail(Fault::rejected, std::string(names[i]) + " must be given once");
            values[i] = &field.value;
        }
    }
    const auto in = [](std::string_view name) { return [name](Error error) { return std::move(error).within(name); }; };
    RetryContext context;
    if (values[0] != nullptr) {
        const Duration remaining = SEMEL_TRY(parse_remaining(*values[0]).map_error(in(names[0])));
        context.deadline = Deadline::after(now, remaining);
    }
    if (values[1] != nullptr) context.attempt = SEMEL_TRY(parse_attempt(*values[1]).map_error(in(names[1])));
    if (values[2] != nullptr) context.owner = SEMEL_TRY(parse_owner(*values[2]).map_error(in(names[2])));
    return context;
}

void write_context(Headers& headers, const RetryContext& context, Instant now) {
    if (!context.deadline.is_never()) headers.set(deadline_header, format_remaining(context.deadline.remaining(now)));
    headers.set(attempt_header, format_attempt(context.attempt));
    if (!context.owner.empty()) headers.set(retry_owner_header, context.owner);
}

std::string correlation_id(const Headers& headers) {
    const auto given = headers.find(correlation_header);
    const bool usable = given && !given->empty() && given->size() <= correlation_size_max &&
                        std::ranges::all_of(*given, is_correlation_character) && headers.count(correlation_header) == 1;
    return usable ? std::string(*given) : new_uuid().text();
}

}  // namespace semel::http
