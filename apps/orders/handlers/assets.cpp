#include "apps/orders/handlers/assets.hpp"

#include "apps/orders/handlers/change.hpp"
#include "apps/orders/handlers/order_events.hpp"
#include "apps/orders/storage/assets.hpp"

namespace orders {

semel::Result<Handled<Asset>> modify_asset(const ModifyAsset& asked, semel::Work& work) {
    const std::string& tenant = work.command.identity.tenant();
    const Step* step = asset_step_of(asked.change);
    SEMEL_ASSERT(step != nullptr);
    if (asked.quantity.has_value() != (asked.change == asset_change::set_quantity))
        return Refusal(Unacceptable{.field = "quantity",
                                    .detail = "A quantity belongs to the change SET_QUANTITY, and to no other."});
    const auto found = SEMEL_TRY(load_asset(work.tx, tenant, asked.asset_id));
    if (!found) return Refusal(NoSuch{"asset"});
    if (auto refusal = obstacle(*step, found->snapshot(), asked.expected_version)) return *std::move(refusal);
    Asset changed = after(*step, *found, asked.quantity);
    update_asset(work.tx, tenant, changed);
    record(work, {.kind = "asset",
                  .id = changed.id,
                  .parent = changed.order_id,
                  .event = step->event,
                  .from = found->state,
                  .to = changed.state,
                  .version = changed.version,
                  .payload = asset_payload(changed),
                  .reason = asked.reason});
    return changed;
}

}  // namespace orders
