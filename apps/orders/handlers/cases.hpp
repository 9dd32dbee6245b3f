#pragma once

#include "apps/orders/domain/enforcement.hpp"
#include "apps/orders/domain/refusal.hpp"
#include "semel/command/command.hpp"

#include <string>

namespace orders {

struct OpenCase {
    std::string subject;
};
/// Only posts: one round trip.
[[nodiscard]] Case open_case(const OpenCase& asked, semel::Work& work);

struct CreateEnforcementAction {
    semel::Uuid case_id;
    std::string violation_code;
};
/// Refused with NoSuch if there is no such case. A second action of one case and violation code fails on its unique
/// index, and then `refuse_second_action` decides.
[[nodiscard]] semel::Result<Handled<EnforcementAction>> create_enforcement_action(const CreateEnforcementAction& asked,
                                                                                  semel::Work& work);

/// Names the action that is there. Another key is another intent, and it cannot have this effect: a Duplicate.
[[nodiscard]] semel::Result<Handled<EnforcementAction>> refuse_second_action(const CreateEnforcementAction& asked,
                                                                             semel::Work& work);

}  // namespace orders
