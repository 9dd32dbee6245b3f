#pragma once

#include "semel/base/result.hpp"

namespace semel::app {

/// What the shell learns. The same for every verb.
enum class ExitCode : int {
    ok = 0,
    finding = 1,        ///< The verb worked and found something.
    usage = 2,          ///< The command line is wrong.
    configuration = 3,  ///< Wrong password, missing database, read-only file: a person must change something.
    store = 4,          ///< The store cannot be reached, or is full: it may work later.
    invariant = 5,      ///< Damaged data or a bug.
};

[[nodiscard]] constexpr ExitCode exit_code(Fault fault) noexcept {
    switch (fault) {
        case Fault::rejected: return ExitCode::configuration;
        case Fault::conflict:
        case Fault::unavailable:
        case Fault::throttled:
        case Fault::unknown: return ExitCode::store;
        case Fault::broken: return ExitCode::invariant;
    }
    return ExitCode::invariant;
}

}  // namespace semel::app
