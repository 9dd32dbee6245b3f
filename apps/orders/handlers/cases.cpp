#include "apps/orders/handlers/cases.hpp"

#include "apps/orders/handlers/change.hpp"
#include "apps/orders/handlers/events.hpp"
#include "apps/orders/storage/cases.hpp"

namespace orders {

Case open_case(const OpenCase& asked, semel::Work& work) {
    Case opened{.id = semel::new_uuid(), .subject = asked.subject, .created_at = semel::system_clock().wall()};
    insert_case(work.tx, work.command.identity.tenant(), opened);
    record(work,
           {.kind = "case", .id = opened.id, .event = "case.opened", .to = "OPEN", .payload = case_opened(opened)});
    return opened;
}

semel::Result<Handled<EnforcementAction>> create_enforcement_action(const CreateEnforcementAction& asked,
                                                                    semel::Work& work) {
    const std::string& tenant = work.command.identity.tenant();
    if (!SEMEL_TRY(has_case(work.tx, tenant, asked.case_id))) return Refusal(NoSuch{"case"});
    EnforcementAction action{.id = semel::new_uuid(),
                             .case_id = asked.case_id,
                             .violation_code = asked.violation_code,
                             .created_at = semel::system_clock().wall()};
    insert_action(work.tx, tenant, action);
    record(work, {.kind = "enforcement_action",
                  .id = action.id,
                  .parent = action.case_id,
                  .event = "enforcement_action.created",
                  .to = "TAKEN",
                  .payload = enforcement_action_created(action)});
    return action;
}

semel::Result<Handled<EnforcementAction>> refuse_second_action(const CreateEnforcementAction& asked,
                                                               semel::Work& work) {
    const auto existing =
        SEMEL_TRY(find_action_against(work.tx, work.command.identity.tenant(), asked.case_id, asked.violation_code));
    // It was deleted in between: from the beginning.
    if (!existing) return create_enforcement_action(asked, work);
    return Refusal(Duplicate{.kind = "enforcement action",
                             .existing = existing->id.text(),
                             .detail = "The case has an enforcement action for this violation code."});
}

}  // namespace orders
