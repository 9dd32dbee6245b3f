#pragma once

#include <functional>
#include <string_view>

namespace semel {

enum class LogLevel : unsigned char { debug, info, warning, error };

[[nodiscard]] std::string_view name(LogLevel) noexcept;

/// Where the library's own lines go: rare, for people who operate it (a leaked session, a
/// poisoned store). Called from any thread; must not throw. Standard error unless replaced.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Replaces the sink of this process; an empty one silences it. Thread-safe.
void set_log_sink(LogSink sink);
void log(LogLevel level, std::string_view line) noexcept;

}  // namespace semel
