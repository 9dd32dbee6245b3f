#include "semel/idempotency/state.hpp"

#include <string>

namespace semel {
namespace {

constexpr std::array<std::string_view, 7> names{"received",         "processing", "succeeded",           "failed",
                                                "failed_transient", "expired",    "needs_reconciliation"};

}  // namespace

std::string_view name(CommandState state) noexcept { return names.at(static_cast<std::size_t>(state)); }

Result<CommandState> parse_command_state(std::string_view text) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == text) return static_cast<CommandState>(i);
    return fail(Fault::broken, "a command record is in the unknown state " + std::string(text));
}

}  // namespace semel
