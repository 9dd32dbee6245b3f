#pragma once

#include "apps/semel/relay.hpp"
#include "semel/sink/sink.hpp"

#include <memory>

namespace semel::app {

/// The sink that `--to` names, behind the contracts if there are any. An Error (`rejected`) says what is wrong with either,
/// or what this program can relay to.
[[nodiscard]] Result<std::unique_ptr<Sink>> make_sink(const RelayArguments& arguments);

}  // namespace semel::app
