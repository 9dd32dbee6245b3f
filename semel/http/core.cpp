#include "semel/http/core.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace semel::http {

void Counters::on_timeout(Waiting waiting) noexcept {
    switch (waiting) {
        case Waiting::first_byte: return up(first_byte);
        case Waiting::head: return up(head);
        case Waiting::body: return up(body);
        case Waiting::idle: return up(idle);
        case Waiting::write: return up(write);
        case Waiting::executor: return up(executor);
        case Waiting::nothing:
        case Waiting::farewell: return;
    }
}

std::string_view DateCache::text() {
    const auto now = std::chrono::floor<std::chrono::seconds>(clock_->wall());
    if (now != second_ || text_.empty()) {
        second_ = now;
        text_ = format_http_date(now);
    }
    return text_;
}

std::string format_http_date(std::chrono::sys_seconds when) {
    // Spelled out, since a locale must not have a say.
    constexpr std::array weekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = std::chrono::floor<std::chrono::days>(when);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(when - day);
    return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", weekdays[std::chrono::weekday(day).c_encoding()],
                       static_cast<unsigned>(date.day()), months[static_cast<unsigned>(date.month()) - 1],
                       static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
                       time.seconds().count());
}

}  // namespace semel::http
