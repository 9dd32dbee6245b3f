#pragma once

#include "semel/command/executor.hpp"

#include <string>

namespace orders {

/// Fills an empty store with a few quotes and orders in different states, for people who want to look around. Says what
/// it did, or why it did nothing: a store with quotes of others is left alone.
///
/// It asks as clients do, one command after the other, through the handlers that serve HTTP too. Each command has a key
/// that never changes, so the demo is there once, however often this runs, in however many processes, and also if it was
/// killed in the middle: then the next one goes on where it ended.
[[nodiscard]] semel::Result<std::string> fill_demo(semel::Executor& executor);

}  // namespace orders
