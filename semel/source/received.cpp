#include "semel/source/received.hpp"

#include "semel/base/canon.hpp"

#include <algorithm>
#include <array>

namespace semel {
namespace {

/// How many bytes the character at the front has, by RFC 3629; 0 if it is none, or zero.
std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const unsigned first = byte(0);
    if (first > 0 && first < 0x80) return 1;
    const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    for (std::size_t at = 1; at < length; ++at)
        if ((byte(at) & 0xc0U) != 0x80) return 0;
    // Longer than it must be, a surrogate, or past the last character.
    const unsigned second = byte(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
    return length;
}

bool is_text(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t length = character(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

std::array<std::string ReceivedMessage::*, 7> texts() {
    return {&ReceivedMessage::id,   &ReceivedMessage::tenant,  &ReceivedMessage::topic,  &ReceivedMessage::key,
            &ReceivedMessage::type, &ReceivedMessage::version, &ReceivedMessage::headers};
}

}  // namespace

ReceivedMessage received_from(const Message& message, std::string_view topic) {
    // Lengths keep ("a/b", "c") and ("a", "b/c") apart.
    std::string key;
    for (const std::string* part : {&message.tenant, &message.aggregate.type, &message.aggregate.id}) {
        key += std::to_string(part->size());
        key += ':';
        key += *part;
    }
    return {.id = message.id.text(),
            .tenant = message.tenant,
            .topic = std::string(topic),
            .partition = message.partition,
            .offset = message.position,
            .key = std::move(key),
            .type = message.type,
            .version = {},
            .payload = message.payload,
            .headers = message.headers};
}

Digest content_hash(const ReceivedMessage& message) {
    Sha256 sha;
    sha.add_part(bytes_of(message.type));
    if (const auto canonical = canonical_json(message.payload))
        sha.add_part(bytes_of("json")).add_part(bytes_of(*canonical));
    else
        sha.add_part(bytes_of("bytes")).add_part(bytes_of(message.payload));
    return std::move(sha).finish();
}

bool storable(const ReceivedMessage& message) {
    return std::ranges::all_of(texts(), [&](auto field) { return is_text(message.*field); });
}

ReceivedMessage made_storable(ReceivedMessage message) {
    for (const auto field : texts())
        if (!is_text(message.*field)) message.*field = "hex:" + hex(bytes_of(message.*field));
    return message;
}

}  // namespace semel
