#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace semel {

/// What an event is about. Events of one aggregate leave in the order of their commits.
struct Aggregate {
    std::string type;
    std::string id;
    /// Its version after the change. Unique per aggregate: the same change cannot be told twice.
    std::optional<std::int64_t> version{};
};

}  // namespace semel
