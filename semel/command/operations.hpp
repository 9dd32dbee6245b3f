#pragma once

#include "semel/command/leased.hpp"

#include <map>
#include <string>
#include <string_view>

namespace semel {

/// One operation with effects outside, or executed asynchronously.
struct LeasedOperation {
    LeasedHandler handler;
    LeasedOptions options;
};

/// The operations that this process can execute, by name. Handlers are found here and not with the request, because
/// whoever goes on after a crash has only the stored payload. Filled before anything runs, then only read.
class Operations {
public:
    /// Refuses a second handler for a name, a name that no Identity can have, and limits that cannot work.
    [[nodiscard]] Status add(std::string_view name, LeasedHandler handler, const LeasedOptions& options = {});

    [[nodiscard]] const LeasedOperation* find(std::string_view name) const;
    [[nodiscard]] bool empty() const noexcept { return operations_.empty(); }
    /// All names, each on a line of its own: how statements are told which commands to take.
    [[nodiscard]] const std::string& names() const noexcept { return names_; }
    /// The longest lease: what a command is taken with before it is known which operation it is of.
    [[nodiscard]] Duration lease_max() const noexcept { return lease_max_; }

private:
    std::map<std::string, LeasedOperation, std::less<>> operations_;
    std::string names_;
    Duration lease_max_{};
};

}  // namespace semel
