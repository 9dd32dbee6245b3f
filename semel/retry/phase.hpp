#pragma once

#include <cstdint>
#include <string_view>

namespace semel {

/// How far an attempt had come when it failed. Decides before the code does: the same lost
/// connection is harmless before BEGIN and an unknown outcome after COMMIT was sent.
enum class Phase : std::uint8_t {
    connect,      ///< Nothing was sent that could have an effect.
    transaction,  ///< Inside an open transaction: the server aborts it.
    commit,       ///< COMMIT, or a statement that commits by itself, was sent.
};

[[nodiscard]] constexpr std::string_view name(Phase phase) noexcept {
    switch (phase) {
        case Phase::connect: return "connect";
        case Phase::transaction: return "transaction";
        case Phase::commit: return "commit";
    }
    return "commit";
}

}  // namespace semel
