#pragma once

#include "semel/base/result.hpp"
#include "semel/message/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace semel::rabbitmq {

/// Makes the routing key of a message: "{aggregate_type}.{type}". Known are {tenant}, {aggregate_type}, {aggregate_id} and
/// {type}. Whatever a message puts in stays one word, with _ for its dots; only the dots of {type} go on dividing words, as in
/// "order.created".
class RoutingKeyTemplate {
public:
    /// An Error (`rejected`): an unknown name in braces.
    [[nodiscard]] static Result<RoutingKeyTemplate> parse(std::string_view text);

    /// An Error (`rejected`): longer than AMQP can say.
    [[nodiscard]] Result<std::string> key_of(const Message& message) const;

private:
    struct Part {
        enum class Kind : unsigned char { text, tenant, aggregate_type, aggregate_id, type } kind;
        std::string text{};
    };
    std::vector<Part> parts_;
};

}  // namespace semel::rabbitmq
