#pragma once

#include "semel/base/result.hpp"
#include "semel/rabbitmq/link.hpp"

#include <amqp.h>

#include <optional>
#include <string_view>

namespace semel::rabbitmq {

[[nodiscard]] inline amqp_bytes_t amqp_bytes(std::string_view text) noexcept {
    // The library takes what it only reads as if it might write it.
    return {.len = text.size(), .bytes = const_cast<char*>(text.data())};
}
[[nodiscard]] inline std::string_view text_of(amqp_bytes_t bytes) noexcept {
    return {static_cast<const char*>(bytes.bytes), bytes.len};
}

/// Makes what the broker says of the frames it comes in: a message is a method, a header, and pieces of its body.
class Assembly {
public:
    /// Whatever is complete with this frame. An Error: the broker closed the channel or the connection, and why; or said what
    /// nobody expects.
    [[nodiscard]] Result<std::optional<Incoming>> add(const amqp_frame_t& frame);

private:
    [[nodiscard]] Result<std::optional<Incoming>> add_method(const amqp_method_t& method);
    void add_header(const amqp_basic_properties_t& properties);
    [[nodiscard]] std::optional<Incoming> finished();

    std::optional<Incoming> message_;  ///< The one whose content is coming.
    std::uint64_t body_size_ = 0;
    bool has_header_ = false;
};

/// The failure for which the broker closed a channel or a connection.
[[nodiscard]] Error error_of_close(const amqp_method_t& method);

}  // namespace semel::rabbitmq
