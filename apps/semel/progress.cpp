#include "apps/semel/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

namespace semel::app {

void show_progress(std::string_view verb, std::int64_t done, bool last) {
    if (::isatty(STDERR_FILENO) == 0) return;
    std::fprintf(stderr, "\rsemel outbox %s: %lld events%s", std::string(verb).c_str(), static_cast<long long>(done),
                 last ? "\n" : "");
}

void clear_progress() {
    if (::isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
}

}  // namespace semel::app
