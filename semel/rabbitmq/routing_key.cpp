#include "semel/rabbitmq/routing_key.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace semel::rabbitmq {
namespace {

/// A short string of AMQP.
constexpr std::size_t routing_key_max = 255;

void append_word(std::string& key, std::string_view text) {
    for (const char c : text) key += c == '.' ? '_' : c;
}

}  // namespace

Result<RoutingKeyTemplate> RoutingKeyTemplate::parse(std::string_view text) {
    using Kind = Part::Kind;
    constexpr std::array<std::pair<std::string_view, Kind>, 4> names{{{"{tenant}", Kind::tenant},
                                                                      {"{aggregate_type}", Kind::aggregate_type},
                                                                      {"{aggregate_id}", Kind::aggregate_id},
                                                                      {"{type}", Kind::type}}};
    RoutingKeyTemplate made;
    std::string plain;
    while (!text.empty()) {
        if (text[0] != '{') {
            plain += text[0];
            text.remove_prefix(1);
            continue;
        }
        const auto known = std::ranges::find_if(names, [&](const auto& one) { return text.starts_with(one.first); });
        if (known == names.end())
            return fail(Fault::rejected, "a routing key knows {tenant}, {aggregate_type}, {aggregate_id} and {type}");
        if (!plain.empty()) made.parts_.push_back({.kind = Kind::text, .text = std::exchange(plain, {})});
        made.parts_.push_back({.kind = known->second});
        text.remove_prefix(known->first.size());
    }
    if (!plain.empty()) made.parts_.push_back({.kind = Kind::text, .text = plain});
    return made;
}

Result<std::string> RoutingKeyTemplate::key_of(const Message& message) const {
    using Kind = Part::Kind;
    std::string key;
    for (const Part& part : parts_) {
        switch (part.kind) {
            case Kind::text: key += part.text; break;
            case Kind::tenant: append_word(key, message.tenant); break;
            case Kind::aggregate_type: append_word(key, message.aggregate.type); break;
            case Kind::aggregate_id: append_word(key, message.aggregate.id); break;
            case Kind::type: key += message.type; break;
        }
    }
    if (key.size() > routing_key_max) return fail(Fault::rejected, "the routing key of the event would be too long");
    return key;
}

}  // namespace semel::rabbitmq
