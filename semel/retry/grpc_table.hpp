#pragma once

#include "semel/retry/phase.hpp"
#include "semel/retry/rule.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace semel {

/// What a gRPC status that is not OK means. `connect`: the call did not leave this process. Both
/// other phases: it did, and gRPC has no transaction that would undo it.
[[nodiscard]] std::span<const Rule> grpc_rules() noexcept;

/// What the server says about retrying (`grpc-retry-pushback-ms`).
enum class GrpcPushback : std::uint8_t {
    none,
    wait,  ///< Come back after that long. (A negative or unreadable value is none.)
};

/// The code of a status as the table writes it: "8", "8 pushback".
[[nodiscard]] std::string grpc_code(int status, GrpcPushback pushback = GrpcPushback::none);
[[nodiscard]] Fault classify_grpc(int status, GrpcPushback pushback, Phase phase) noexcept;

}  // namespace semel
