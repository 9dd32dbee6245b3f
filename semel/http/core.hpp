#pragma once

#include "semel/base/time.hpp"
#include "semel/http/load.hpp"
#include "semel/http/message.hpp"
#include "semel/http/router.hpp"
#include "semel/http/server.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace semel::http {

/// What a connection waits for, and so whose limit may run out.
enum class Waiting : unsigned char { nothing, first_byte, head, body, idle, write, executor, farewell };

/// What `ServerStats` is read from.
struct Counters {
    using Count = std::atomic<std::uint64_t>;
    Count connections{0};
    Count accepted{0};
    Count evicted{0};
    Count refused{0};
    Count requests{0};
    Count malformed{0};
    Count shed{0};
    Count handler_failures{0};
    Count first_byte{0};
    Count head{0};
    Count body{0};
    Count idle{0};
    Count write{0};
    Count queue{0};
    Count executor{0};

    static void up(Count& count) noexcept { count.fetch_add(1, std::memory_order_relaxed); }
    void on_timeout(Waiting waiting) noexcept;
};

/// What all parts of one server share. Everything in it may be used by any thread.
struct Core {
    Core(ServerOptions options_given, Router router_given, Clock& clock_given)
        : options(std::move(options_given)),
          router(std::move(router_given)),
          clock(clock_given),
          load(options.workers, options.queue_max) {}

    const ServerOptions options;
    const Router router;
    Clock& clock;
    Load load;
    Counters counters{};
    std::atomic<std::size_t> busy{0};    ///< Workers that handle a request.
    std::atomic<std::size_t> queued{0};  ///< Requests that wait for one.
    std::atomic<bool> draining{false};
};

/// The value of the Date field, made anew once a second. One thread.
class DateCache {
public:
    explicit DateCache(const Clock& clock) noexcept : clock_(&clock) {}
    [[nodiscard]] std::string_view text();

private:
    const Clock* clock_;
    std::chrono::sys_seconds second_{};
    std::string text_;
};

/// "Sun, 06 Nov 1994 08:49:37 GMT".
[[nodiscard]] std::string format_http_date(std::chrono::sys_seconds when);

}  // namespace semel::http
