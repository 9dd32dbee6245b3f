#pragma once

#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

namespace approval_state {

inline constexpr std::string_view pending = "PENDING";      ///< Waits for decisions. One for each revision at most.
inline constexpr std::string_view granted = "GRANTED";      ///< As many as needed said yes.
inline constexpr std::string_view rejected = "REJECTED";    ///< Somebody said no.
inline constexpr std::string_view withdrawn = "WITHDRAWN";  ///< The quote was revised, or its time passed.

}  // namespace approval_state

namespace decision_word {

inline constexpr std::string_view approve = "APPROVE";
inline constexpr std::string_view reject = "REJECT";

}  // namespace decision_word

/// What one approver said of one revision, once and for all.
struct Decision {
    std::int64_t revision = 1;
    std::string approver;
    std::string decision;
    std::string reason{};    ///< Empty: none was given.
    std::string command_id;  ///< By which it was made.
    semel::Timestamp decided_at{};
};

/// What is asked of approvers when a revision is submitted.
struct Approval {
    semel::Uuid id;
    std::int64_t revision = 1;
    std::string state{approval_state::pending};
    std::int64_t needed = 1;
    std::int64_t granted = 0;
    semel::Timestamp created_at{};
    std::vector<Decision> decisions{};  ///< Empty where only the head was read.
};

/// The customer's yes to one revision.
struct Acceptance {
    std::int64_t revision = 1;
    std::string accepted_by;
    std::string command_id;
    semel::Timestamp accepted_at{};
};

}  // namespace orders
