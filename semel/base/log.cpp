#include "semel/base/log.hpp"

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace semel {
namespace {

void to_standard_error(LogLevel level, std::string_view line) {
    const std::string_view word = name(level);
    std::fprintf(stderr, "semel: %.*s: %.*s\n", static_cast<int>(word.size()), word.data(),
                 static_cast<int>(line.size()), line.data());
}

struct Current {
    std::mutex mutex;
    std::shared_ptr<const LogSink> sink = std::make_shared<const LogSink>(to_standard_error);
};

Current& current() {
    static Current instance;
    return instance;
}

}  // namespace

std::string_view name(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warning: return "warning";
        case LogLevel::error: return "error";
    }
    return "error";
}

void set_log_sink(LogSink sink) {
    auto replacement = std::make_shared<const LogSink>(std::move(sink));
    const std::lock_guard guard(current().mutex);
    current().sink = std::move(replacement);
}

void log(LogLevel level, std::string_view line) noexcept {
    std::shared_ptr<const LogSink> sink;
    {
        const std::lock_guard guard(current().mutex);
        sink = current().sink;
    }
    if (*sink) (*sink)(level, line);
}

}  // namespace semel
