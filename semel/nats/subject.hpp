#pragma once

#include "semel/base/result.hpp"
#include "semel/message/message.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semel::nats {

/// Makes the subject of a message: "orders.{aggregate_type}.{type}". Known are {stream}, {tenant}, {aggregate_type},
/// {aggregate_id} and {type}. Whatever a message puts in stays in its place: bytes with a meaning in subjects, and all
/// others but letters, digits, - and _, become _; only the dots of {type} go on dividing tokens, as in "order.created".
class SubjectTemplate {
public:
    /// An Error (`rejected`): an unknown name in braces, or no subject could come of it.
    [[nodiscard]] static Result<SubjectTemplate> parse(std::string_view text, std::string_view stream);

    /// An Error (`rejected`): longer than a server takes.
    [[nodiscard]] Result<std::string> subject_of(const Message& message) const;

private:
    struct Part {
        enum class Kind : unsigned char { text, tenant, aggregate_type, aggregate_id, type } kind;
        std::string text{};
    };
    std::vector<Part> parts_;
};

/// Whether one of the patterns, with * for a token and > for all that follow, covers the subject.
[[nodiscard]] bool covers(std::span<const std::string> patterns, std::string_view subject);

/// Whether NATS takes it as the name of a stream or a consumer: one token without wildcards, spaces or slashes.
[[nodiscard]] bool is_plain_name(std::string_view name);

}  // namespace semel::nats
