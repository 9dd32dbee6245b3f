#pragma once

#include "semel/base/result.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// A step of a business object from one state to the next, guarded by compare-and-set on its state and version:
///   UPDATE … SET state = to, version = version + 1 WHERE id = … AND state IN (from) AND version = expected
struct GuardedTransition {
    std::vector<std::string> from;
    std::string to;
    std::optional<std::int64_t> expected_version;  ///< None: any.
};

/// What was found when the update had changed nothing.
struct FoundState {
    std::string state;
    std::int64_t version = 0;
};

/// What an update count means.
enum class Applied : std::uint8_t {
    applied,          ///< One row: this transaction did it.
    already_applied,  ///< It is in the wanted state, one version on: someone did exactly this before.
    stale,            ///< The version is another: what the caller decided by is outdated.
    invalid,          ///< The state does not allow the step.
    missing,          ///< There is no such object.
};
[[nodiscard]] std::string_view name(Applied) noexcept;

/// Interprets every count: `updated` rows, and the object as it is (read in the same transaction) if that was none.
/// More than one row means that the guard does not name one object: `broken`.
[[nodiscard]] Result<Applied> interpret(const GuardedTransition& transition, std::int64_t updated,
                                        const std::optional<FoundState>& found);

}  // namespace semel
