#pragma once

#include "semel/base/result.hpp"

#include <array>
#include <string_view>

namespace semel {

/// A failure that Semel's own SQL raises, under a code of its own. PostgreSQL carries it as SQLSTATE, SQLite as
/// the text of the error; both drivers make the same Error of it.
struct OwnCode {
    std::string_view code;
    std::string_view name;
    Fault fault;
    std::string_view message;
};

inline constexpr std::array own_codes{
    OwnCode{"SM001", "in_progress", Fault::rejected, "a command with the same key is being executed"},
    OwnCode{"SM002", "done", Fault::rejected, "the command was executed before; its reply is stored"},
    OwnCode{"SM003", "mismatch", Fault::rejected, "the key was used before with another request"},
    OwnCode{"SM004", "expired", Fault::rejected, "the key was used before; its reply is no longer kept"},
    OwnCode{"SM005", "needs_reconciliation", Fault::rejected,
            "the command has effects outside whose outcome a person must settle"},
    OwnCode{"SM006", "unexpected_row_count", Fault::conflict,
            "a statement changed another number of rows than it declared"},
    OwnCode{"SM007", "fence_lost", Fault::rejected, "the lease of the command was taken over by someone else"},
};

[[nodiscard]] constexpr const OwnCode* own_code(std::string_view code) noexcept {
    for (const OwnCode& own : own_codes)
        if (own.code == code) return &own;
    return nullptr;
}

}  // namespace semel
