#include "apps/orders/domain/fulfilment.hpp"
#include "apps/orders/consumers/consumption.hpp"
#include "apps/orders/handlers/fulfilment.hpp"
#include "apps/orders/handlers/order_events.hpp"
#include "apps/orders/storage/fulfilment.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace orders {
namespace {

constexpr std::string_view fulfilment_name = "fulfilment";
constexpr std::string_view start_operation = "fulfilment.start";
constexpr std::array fulfilment_types{order_created_event, task_step::make_ready.event, task_step::retry.event};

/// All of them name the order that they are about.
semel::Result<semel::Uuid> order_in(const semel::Contracts& contracts, const semel::ReceivedMessage& message) {
    SEMEL_TRY(check_payload(contracts, message));
    return semel::Uuid::parse(nlohmann::json::parse(message.payload).at("orderId").get<std::string>());
}

/// It is taken as it is now, whatever it was when the message was written: what was begun, done or cancelled meanwhile
/// leaves nothing to do.
semel::Status start_tasks(const semel::Uuid& order_id, semel::Work& work) {
    const auto found = SEMEL_TRY(load_fulfilment(work.tx, work.command.identity.tenant(), order_id));
    if (!found) return {};
    const auto progress = after_start(*found);
    if (progress) write(work, *progress, order_payload(progress->order));
    return {};
}

}  // namespace

Consumption fulfilment(const semel::Contracts& contracts) {
    return {.name = fulfilment_name,
            .types = fulfilment_types,
            .handle = [contracts](semel::ConsumerWork& told) -> semel::Status {
                const auto command = SEMEL_TRY(command_for(told.message, fulfilment_name, start_operation));
                const auto order_id = SEMEL_TRY(order_in(contracts, told.message));
                semel::Work work{.tx = told.tx, .outbox = told.outbox, .command = command, .attempt = told.attempt};
                return start_tasks(order_id, work);
            }};
}

}  // namespace orders
