#pragma once

#include "semel/base/result.hpp"
#include "semel/message/cloud_event.hpp"
#include "semel/message/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace semel::smtp {

enum class Mode : unsigned char {
    binary,      ///< The payload is the body, the attributes are header fields ("ce-id").
    structured,  ///< The body is one JSON document with both.
};

/// What every mail has in common.
struct Letterhead {
    std::string from{};
    std::vector<std::string> to{};
    CloudEventOptions event{.source = "/semel"};
    Mode mode = Mode::binary;
};

/// A mail with an event in it, as it goes over the wire. Its Message-ID is made of the event's id, the same however often
/// it is sent: whoever reads mail can tell a repeat. The body is base64, so that no line is too long and no byte is
/// changed on the way. An Error (`rejected`): the event can never be told as a mail.
[[nodiscard]] Result<std::string> mail_of(const Message& message, const Letterhead& letterhead);

/// Whether a text is an address that can stand in a mail: one @, and nothing that ends a line or an address.
[[nodiscard]] bool is_mail_address(std::string_view text) noexcept;

}  // namespace semel::smtp
