#include "apps/orders/handlers/change.hpp"

#include "apps/orders/storage/audit.hpp"

#include <nlohmann/json.hpp>

namespace orders {

void record(semel::Work& work, const Change& change) {
    const semel::Command& command = work.command;
    work.outbox.append(
        {.aggregate = {.type = std::string(change.kind), .id = change.id.text(), .version = change.version},
         .type = std::string(change.event),
         .payload = change.payload,
         .headers = nlohmann::ordered_json{{"correlationId", command.correlation_id},
                                           {"commandId", command.identity.command_id()}}
                        .dump()});
    insert_audit(work.tx, command.identity.tenant(),
                 {.id = semel::new_uuid(),
                  .at = semel::system_clock().wall(),
                  .caller = command.identity.caller(),
                  .operation = command.identity.operation(),
                  .command_id = command.identity.command_id(),
                  .correlation_id = command.correlation_id,
                  .kind = std::string(change.kind),
                  .resource_id = change.id,
                  .parent_id = change.parent,
                  .from_state = std::string(change.from),
                  .to_state = std::string(change.to),
                  .version = change.version,
                  .attempt = command.attempt,
                  .runs = work.attempt.number,
                  .reason = change.reason});
}

}  // namespace orders
