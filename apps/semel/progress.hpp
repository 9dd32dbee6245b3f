#pragma once

#include <cstdint>
#include <string_view>

namespace semel::app {

/// How far `semel outbox VERB` is, in events. On a terminal only: one line on standard error that is written over.
void show_progress(std::string_view verb, std::int64_t done, bool last);
/// Takes that line away, for an answer that comes before the end.
void clear_progress();

}  // namespace semel::app
