#pragma once

#include <cstdint>

namespace semel {

/// What a second execution of the same attempt would do. Decides whether an unknown outcome may
/// be tried again.
enum class Repeat : std::uint8_t {
    safe,    ///< Repeating has no further effect: a read, or a command with a key.
    unsafe,  ///< Repeating might do it twice.
};

}  // namespace semel
