#pragma once

#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <string>

namespace orders {

/// Something that is looked into.
struct Case {
    semel::Uuid id;
    std::string subject;
    semel::Timestamp created_at{};
};

/// What is done about a violation. One for each case and violation code.
struct EnforcementAction {
    semel::Uuid id;
    semel::Uuid case_id;
    std::string violation_code;
    semel::Timestamp created_at{};
};

}  // namespace orders
