// Whatever arrives as a CloudEvent, or under a signature: it can be stored after it was made storable, and only what was
// signed passes.
#include "semel/source/cloud_event.hpp"
#include "semel/webhook/signature.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// Lines of "name: value" up to an empty one, then the body.
std::vector<semel::CloudEventAttribute> take_headers(std::string_view& text) {
    std::vector<semel::CloudEventAttribute> headers;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.empty()) break;
        const std::size_t colon = std::min(line.find(": "), line.size());
        headers.push_back(
            {std::string(line.substr(0, colon)), std::string(line.substr(std::min(colon + 2, line.size())))});
    }
    return headers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto headers = take_headers(text);
    for (const auto encoding : {semel::HeaderEncoding::utf8, semel::HeaderEncoding::percent}) {
        const auto message = semel::received_cloud_event(headers, "ce-", text, encoding);
        static_cast<void>(semel::content_hash(message));
        SEMEL_ASSERT(semel::storable(semel::made_storable(message)));
    }
    static const auto secret = semel::webhook::Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").value();
    const std::array secrets{secret};
    const semel::Timestamp now(std::chrono::seconds(1'700'000'000));
    const std::string_view head = text.substr(0, std::min<std::size_t>(text.size(), 64));
    const semel::webhook::Signed message{.id = "msg_1", .timestamp = "1700000000", .body = text};
    static_cast<void>(semel::webhook::verify({.id = head, .timestamp = head, .body = text}, head, secrets, now));
    SEMEL_ASSERT(semel::webhook::verify(message, semel::webhook::sign(message, secrets), secrets, now));
    SEMEL_ASSERT(!semel::webhook::verify(message, head, secrets, now) ||
                 head.find(semel::webhook::sign(message, secrets)) != std::string_view::npos);
    static_cast<void>(semel::webhook::Secret::parse(head));
    return 0;
}
