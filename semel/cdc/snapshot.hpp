#pragma once

#include "semel/base/result.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace semel::cdc {

/// Which transactions had ended at some moment, as PostgreSQL writes it: "xmin:xmax:running,running".
class Snapshot {
public:
    [[nodiscard]] static Result<Snapshot> parse(std::string_view text);

    /// Committed or undone, and everyone can see which.
    [[nodiscard]] bool ended(std::uint64_t transaction) const noexcept;

private:
    std::uint64_t end_ = 0;               ///< From here on none has ended.
    std::vector<std::uint64_t> running_;  ///< Below that, sorted.
};

/// The number of a transaction: digits and nothing else.
[[nodiscard]] Result<std::uint64_t> parse_transaction(std::string_view text);

}  // namespace semel::cdc
