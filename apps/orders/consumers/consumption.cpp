#include "apps/orders/consumers/consumption.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace orders {
namespace {

/// Longer ones are no name that people look for.
constexpr std::size_t correlation_id_max = 128;
/// As events have it, as a CloudEvent has it, and as a request has it.
constexpr std::array correlation_names{"correlationId", "correlationid", "x-correlation-id"};

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

/// Whose request this goes back to; the message itself, if it does not say.
std::string correlation_of(const semel::ReceivedMessage& message) {
    const auto headers = nlohmann::json::parse(message.headers, nullptr, false);
    for (const char* name : correlation_names) {
        if (!headers.is_object() || !headers.contains(name) || !headers[name].is_string()) continue;
        auto id = headers[name].get<std::string>();
        if (!id.empty() && id.size() <= correlation_id_max && is_printable(id)) return id;
    }
    return message.id;
}

}  // namespace

semel::Result<semel::Command> command_for(const semel::ReceivedMessage& message, std::string_view consumer,
                                          std::string_view operation) {
    if (message.tenant.empty())
        return semel::fail(semel::Fault::rejected, "the message does not say whose it is: it has no tenant");
    return semel::Command{.identity = SEMEL_TRY(semel::Identity::of(message.tenant, consumer, operation, message.id)),
                          .fingerprint = SEMEL_TRY(semel::fingerprint({.operation = operation})),
                          .correlation_id = correlation_of(message)};
}

semel::Status check_payload(const semel::Contracts& contracts, const semel::ReceivedMessage& message) {
    auto kept = contracts.check(message.type, message.payload);
    if (kept) return {};
    // To a program that tells it is a bug of its own; to us it is what somebody sent.
    return semel::fail(semel::Fault::rejected, "the message is not as agreed: " + kept.error().message);
}

}  // namespace orders
