#include "semel/nats/delivery.hpp"

#include "semel/source/cloud_event.hpp"

#include <nats/nats.h>

#include <charconv>
#include <cstdlib>
#include <vector>

namespace semel::nats {
namespace {

bool read_count(std::string_view text, std::uint64_t& number) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

std::string_view header(const NatsMessage& message, const char* name) {
    const char* value = nullptr;
    return natsMsgHeader_Get(message.get(), name, &value) == NATS_OK && value != nullptr ? value : std::string_view();
}

std::vector<CloudEventAttribute> headers_of(const NatsMessage& message) {
    std::vector<CloudEventAttribute> headers;
    const char** names = nullptr;
    int count = 0;
    if (natsMsgHeader_Keys(message.get(), &names, &count) != NATS_OK) return headers;
    for (int n = 0; n < count; ++n) headers.push_back({names[n], std::string(header(message, names[n]))});
    std::free(static_cast<void*>(names));  // NOLINT(cppcoreguidelines-no-malloc): the library's way.
    return headers;
}

}  // namespace

std::optional<DeliveryFacts> delivery_facts(std::string_view reply) {
    std::vector<std::string_view> tokens;
    for (std::string_view rest = reply; !rest.empty();) {
        const auto dot = rest.find('.');
        tokens.push_back(rest.substr(0, dot));
        rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
    }
    // Before the stream, newer servers name a domain and an account.
    const std::size_t stream = tokens.size() == 9 ? 2 : 4;
    if (tokens.size() < 9 || tokens.size() == 10 || tokens[0] != "$JS" || tokens[1] != "ACK") return std::nullopt;
    DeliveryFacts facts{.stream = std::string(tokens[stream])};
    if (!read_count(tokens[stream + 2], facts.times) || !read_count(tokens[stream + 3], facts.sequence))
        return std::nullopt;
    return facts;
}

int status_of(const NatsMessage& message) {
    // A message has a subject to acknowledge it by; what only says something has none.
    const char* reply = natsMsg_GetReply(message.get());
    if (reply != nullptr && *reply != '\0') return 0;
    std::uint64_t status = 0;
    return read_count(header(message, "Status"), status) ? static_cast<int>(status) : 0;
}

ReceivedMessage received_from(const NatsMessage& message, const DeliveryFacts& facts) {
    const std::string_view body(natsMsg_GetData(message.get()),
                                static_cast<std::size_t>(natsMsg_GetDataLength(message.get())));
    ReceivedMessage received = received_cloud_event(headers_of(message), "ce-", body);
    if (received.id.empty()) received.id = header(message, "Nats-Msg-Id");
    if (received.id.empty()) received.id = facts.stream + ":" + std::to_string(facts.sequence);
    received.topic = natsMsg_GetSubject(message.get());
    received.offset = static_cast<std::int64_t>(facts.sequence);
    return received;
}

}  // namespace semel::nats
