#pragma once

#include "apps/semel/exit_code.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace semel::app {

/// What every verb of `semel inbox` is told.
struct InboxArguments {
    std::string database;
    bool json = false;
    std::string consumer;
};

struct InboxParkedArguments : InboxArguments {
    std::size_t limit = 50;  ///< Of what is listed.
    std::string id;          ///< Only this one, whole.
};

struct InboxRedriveArguments : InboxArguments {
    std::vector<std::string> ids;
    std::string wait = "15s";
    std::string actor;  ///< Empty: whoever runs it.
};

/// The messages of a consumer that were set aside, and why; without a consumer, how many each has. No such message is a
/// finding.
[[nodiscard]] ExitCode inbox_parked(const InboxParkedArguments& arguments);
/// Asks the consumer to handle parked messages once more, and waits for what becomes of them. One that is not parked, stays
/// parked, or was not taken in time is a finding.
[[nodiscard]] ExitCode inbox_redrive(const InboxRedriveArguments& arguments);

}  // namespace semel::app
