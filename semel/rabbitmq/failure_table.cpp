#include "semel/rabbitmq/failure_table.hpp"

#include <amqp.h>

#include <array>
#include <string>

namespace semel::rabbitmq {
namespace {

constexpr Rule amqp_rule(std::string_view code, std::string_view name, Fault fault, std::string_view why) {
    return {.code = code,
            .name = name,
            .connect = fault,
            .transaction = fault,
            .commit = fault,
            .closes_session = code != "312" && code != "313",
            .why = why};
}

constexpr Fault rejected = Fault::rejected;
constexpr Fault throttled = Fault::throttled;
constexpr Fault away = Fault::unavailable;

constexpr std::array amqp_table{
    // The message itself.
    amqp_rule("311", "content-too-large", rejected, "The message is larger than the broker takes."),
    amqp_rule("312", "no-route", rejected, "No queue is bound for the routing key of the event."),
    amqp_rule("313", "no-consumers", rejected, "Nobody takes messages with the routing key of the event."),
    // There is no room.
    amqp_rule("506", "resource-error", throttled, "The broker has no resources left."),
    // Nobody is there who could take it now, or someone must first set it right.
    amqp_rule("320", "connection-forced", away, "An operator closed the connection, or the broker stops."),
    amqp_rule("402", "invalid-path", away, "The vhost is not there."),
    amqp_rule("403", "access-refused", away, "The broker does not know the user, or does not allow it."),
    amqp_rule("404", "not-found", away, "The exchange or the queue is not there."),
    amqp_rule("405", "resource-locked", away, "Someone else has the queue to itself."),
    amqp_rule("406", "precondition-failed", away, "The exchange or the queue is declared differently."),
    amqp_rule("501", "frame-error", away, "The broker did not understand a frame."),
    amqp_rule("502", "syntax-error", away, "The broker did not understand a field."),
    amqp_rule("503", "command-invalid", away, "The broker did not expect the command."),
    amqp_rule("504", "channel-error", away, "The channel was not as the broker thought."),
    amqp_rule("530", "not-allowed", away, "The broker does not allow it."),
    amqp_rule("540", "not-implemented", away, "The broker does not know how."),
    amqp_rule("541", "internal-error", away, "The broker failed."),
};

}  // namespace

std::span<const Rule> amqp_rules() noexcept { return amqp_table; }

Error error_from(int reply_code, std::string_view native) {
    Error error;
    error.cause.code = std::to_string(reply_code);
    error.native = native;
    const Rule* rule = find(amqp_table, error.cause.code);
    error.fault = rule != nullptr ? rule->commit : Fault::unavailable;
    error.message = rule != nullptr ? std::string(rule->why) : "The broker did not take it.";
    error.message.pop_back();  // Sentences of the table become part of longer ones.
    return error;
}

Error client_error(std::string_view what, int status) {
    Error error;
    error.fault = Fault::unavailable;
    error.message.append(what).append(": ").append(amqp_error_string2(status));
    error.cause.code = std::to_string(status);
    if (status == AMQP_STATUS_SSL_PEER_VERIFY_FAILED || status == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED ||
        status == AMQP_STATUS_SSL_CONNECTION_FAILED)
        error.cause.hint = "the server's certificate must be valid and name the host";
    return error;
}

}  // namespace semel::rabbitmq
