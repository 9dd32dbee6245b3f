#pragma once

#include "semel/command/command.hpp"
#include "semel/consumer/handling.hpp"
#include "semel/contract/contracts.hpp"

#include <span>
#include <string_view>

namespace orders {

/// One consumer of this service: which messages it wants, and what it does with each.
struct Consumption {
    std::string_view name;  ///< Of its inbox, and the caller in the audit.
    std::span<const std::string_view> types;
    semel::ConsumerHandler handle;
    semel::BusinessKey business_key{};
};

/// Begins what can begin of an order that was made or has got on.
[[nodiscard]] Consumption fulfilment(const semel::Contracts& contracts);
/// Issues the invoice of an order that is completed.
[[nodiscard]] Consumption billing(const semel::Contracts& contracts);

/// The command that a message amounts to: of the message's tenant, by this consumer, under the message's id as the key. So
/// a handler of commands can do the work, and what it tells and writes down names where it comes from. An Error
/// (`rejected`): the message has no tenant, or an id that is no key.
[[nodiscard]] semel::Result<semel::Command> command_for(const semel::ReceivedMessage& message,
                                                        std::string_view consumer, std::string_view operation);

/// An Error (`rejected`) says in what the payload does not keep the contract of its type.
[[nodiscard]] semel::Status check_payload(const semel::Contracts& contracts, const semel::ReceivedMessage& message);

}  // namespace orders
