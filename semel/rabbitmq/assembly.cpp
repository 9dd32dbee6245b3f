#include "semel/rabbitmq/assembly.hpp"

#include "semel/rabbitmq/failure_table.hpp"

#include <string>
#include <utility>

namespace semel::rabbitmq {
namespace {

/// Text as it is, numbers in digits; nothing for what no header of an event is.
std::optional<std::string> field_text(const amqp_field_value_t& field) {
    switch (field.kind) {
        case AMQP_FIELD_KIND_UTF8:
        case AMQP_FIELD_KIND_BYTES: return std::string(text_of(field.value.bytes));
        case AMQP_FIELD_KIND_BOOLEAN: return field.value.boolean != 0 ? "true" : "false";
        case AMQP_FIELD_KIND_I32: return std::to_string(field.value.i32);
        case AMQP_FIELD_KIND_I64: return std::to_string(field.value.i64);
        default: return std::nullopt;
    }
}

Incoming confirmed(Incoming::Kind kind, std::uint64_t tag, amqp_boolean_t multiple) {
    Incoming one;
    one.kind = kind;
    one.tag = tag;
    one.multiple = multiple != 0;
    return one;
}

Incoming plainly(Incoming::Kind kind) {
    Incoming one;
    one.kind = kind;
    return one;
}

}  // namespace

Error error_of_close(const amqp_method_t& method) {
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_channel_close_t*>(method.decoded);
        return error_from(close->reply_code, text_of(close->reply_text));
    }
    if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const auto* close = static_cast<const amqp_connection_close_t*>(method.decoded);
        return error_from(close->reply_code, text_of(close->reply_text));
    }
    return client_error("talk to RabbitMQ", AMQP_STATUS_UNEXPECTED_STATE);
}

Result<std::optional<Incoming>> Assembly::add(const amqp_frame_t& frame) {
    switch (frame.frame_type) {
        case AMQP_FRAME_METHOD: return add_method(frame.payload.method);
        case AMQP_FRAME_HEADER:
            if (!message_) break;
            body_size_ = frame.payload.properties.body_size;
            has_header_ = true;
            add_header(*static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded));
            return finished();
        case AMQP_FRAME_BODY:
            if (!message_) break;
            message_->body += text_of(frame.payload.body_fragment);
            return finished();
        default: break;
    }
    return std::optional<Incoming>();
}

std::optional<Incoming> Assembly::finished() {
    if (!has_header_ || message_->body.size() < body_size_) return std::nullopt;
    has_header_ = false;
    return std::exchange(message_, std::nullopt);
}

Result<std::optional<Incoming>> Assembly::add_method(const amqp_method_t& method) {
    using Kind = Incoming::Kind;
    switch (method.id) {
        case AMQP_BASIC_ACK_METHOD: {
            const auto* ack = static_cast<const amqp_basic_ack_t*>(method.decoded);
            return confirmed(Kind::acked, ack->delivery_tag, ack->multiple);
        }
        case AMQP_BASIC_NACK_METHOD: {
            const auto* nack = static_cast<const amqp_basic_nack_t*>(method.decoded);
            return confirmed(Kind::nacked, nack->delivery_tag, nack->multiple);
        }
        case AMQP_BASIC_RETURN_METHOD: {
            const auto* returned = static_cast<const amqp_basic_return_t*>(method.decoded);
            message_ = plainly(Kind::returned);
            message_->code = returned->reply_code;
            message_->text = text_of(returned->reply_text);
            return std::optional<Incoming>();
        }
        case AMQP_BASIC_DELIVER_METHOD: {
            const auto* delivered = static_cast<const amqp_basic_deliver_t*>(method.decoded);
            message_ = plainly(Kind::delivered);
            message_->tag = delivered->delivery_tag;
            message_->redelivered = delivered->redelivered != 0;
            message_->exchange = text_of(delivered->exchange);
            message_->routing_key = text_of(delivered->routing_key);
            return std::optional<Incoming>();
        }
        case AMQP_CONNECTION_BLOCKED_METHOD: {
            Incoming blocked = plainly(Kind::blocked);
            blocked.text = text_of(static_cast<const amqp_connection_blocked_t*>(method.decoded)->reason);
            return blocked;
        }
        case AMQP_CONNECTION_UNBLOCKED_METHOD: return plainly(Kind::unblocked);
        case AMQP_BASIC_CANCEL_METHOD: return plainly(Kind::cancelled);
        case AMQP_CHANNEL_CLOSE_METHOD:
        case AMQP_CONNECTION_CLOSE_METHOD: return fail(error_of_close(method));
        default: return std::optional<Incoming>();
    }
}

void Assembly::add_header(const amqp_basic_properties_t& properties) {
    if ((properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0) message_->message_id = text_of(properties.message_id);
    if ((properties._flags & AMQP_BASIC_CONTENT_TYPE_FLAG) != 0)
        message_->headers.push_back({"content-type", std::string(text_of(properties.content_type))});
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0) return;
    for (int n = 0; n < properties.headers.num_entries; ++n) {
        const amqp_table_entry_t& entry = properties.headers.entries[n];
        if (auto text = field_text(entry.value))
            message_->headers.push_back({std::string(text_of(entry.key)), *std::move(text)});
    }
}

}  // namespace semel::rabbitmq
