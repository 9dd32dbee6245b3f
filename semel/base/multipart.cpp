#include "semel/base/multipart.hpp"

#include <optional>
#include <string>

namespace semel {
namespace {

/// RFC 2046 allows no longer boundary.
constexpr std::size_t boundary_max = 70;

/// What a delimiter line is followed by.
struct Delimiter {
    bool closing = false;
    std::size_t end = 0;  ///< Behind its line.
};

/// The line that begins with the delimiter before `at`; none if it goes on with something else.
std::optional<Delimiter> read_delimiter(std::string_view body, std::size_t at) {
    Delimiter delimiter;
    delimiter.closing = body.substr(at).starts_with("--");
    if (delimiter.closing) at += 2;
    while (at < body.size() && (body[at] == ' ' || body[at] == '\t')) ++at;
    const bool line_ends = body.substr(at).starts_with("\r\n");
    const bool body_ends = delimiter.closing && at == body.size();
    if (!line_ends && !body_ends) return std::nullopt;
    delimiter.end = at + (line_ends ? 2 : 0);
    return delimiter;
}

tl::unexpected<Error> refuse(std::string_view reason, std::size_t byte) {
    return fail(Fault::rejected, "multipart body: " + std::string(reason) + " at byte " + std::to_string(byte));
}

}  // namespace

Result<std::vector<std::string_view>> multipart_parts(std::string_view body, std::string_view boundary) {
    if (boundary.empty() || boundary.size() > boundary_max || boundary.ends_with(' ') ||
        boundary.find_first_of("\r\n") != std::string_view::npos)
        return fail(Fault::rejected, "multipart body: its Content-Type names no valid boundary");
    const std::string dashes = "--" + std::string(boundary);
    const std::string delimiter_text = "\r\n" + dashes;

    std::vector<std::string_view> parts;
    std::optional<std::size_t> part;  // Where the current part begins; none before the first.
    const bool at_once = body.starts_with(dashes);
    std::size_t found = at_once ? 0 : body.find(delimiter_text);
    std::size_t behind = found + (at_once ? dashes.size() : delimiter_text.size());
    while (found != std::string_view::npos) {
        const auto delimiter = read_delimiter(body, behind);
        if (!delimiter) return refuse("a line begins like a delimiter and is none", found);
        if (part) parts.push_back(body.substr(*part, found > *part ? found - *part : 0));
        if (parts.size() > multipart_parts_max) return refuse("too many parts", found);
        if (delimiter->closing) return parts;
        part = delimiter->end;
        // The line break that ended this delimiter also begins the next one, if there is nothing in between.
        found = body.find(delimiter_text, delimiter->end - 2);
        behind = found + delimiter_text.size();
    }
    return refuse(part ? "the closing delimiter is missing" : "no delimiter", body.size());
}

}  // namespace semel
