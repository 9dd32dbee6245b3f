#include "semel/cdc/window.hpp"

#include <algorithm>
#include <utility>

namespace semel::cdc {

const WindowEvent& Window::add(WindowEvent event) {
    event.number = next_++;
    bytes_ += event.bytes.view().size();
    return events_.emplace_back(std::move(event));
}

void Window::commit(Lsn end) {
    open_ = false;
    mark({.after = next_ - 1, .end = end});
}

void Window::heartbeat(std::uint64_t low_water) { mark({.after = next_ - 1, .low_water = low_water}); }

void Window::idle(Lsn end) {
    // In the middle of a transaction the server may have got far ahead of what it has sent.
    if (!open_) mark({.after = next_ - 1, .end = end});
}

void Window::mark(const Marker& marker) {
    // Of two places with nothing between them the later one says it all: an idle server must not fill the window.
    if (!markers_.empty() && markers_.back().after == marker.after) {
        Marker& last = markers_.back();
        last.end = std::max(last.end, marker.end);
        if (marker.low_water) last.low_water = std::max(last.low_water.value_or(0), *marker.low_water);
    } else {
        markers_.push_back(marker);
    }
    advance();
}

void Window::settle(std::int64_t number) {
    if (find(number) == nullptr) return;
    const std::int64_t first = next_ - static_cast<std::int64_t>(events_.size());
    WindowEvent& event = events_[static_cast<std::size_t>(number - first)];
    event.settled = true;
    bytes_ -= event.bytes.view().size();
    event.bytes = {};
    event.fresh.reset();
    advance();
}

void Window::advance() {
    while (!events_.empty() && events_.front().settled) events_.pop_front();
    const std::int64_t first = next_ - static_cast<std::int64_t>(events_.size());
    while (!markers_.empty() && markers_.front().after < first) {
        const Marker& marker = markers_.front();
        confirmed_ = std::max(confirmed_, marker.end);
        if (marker.low_water) low_water_ = std::max(low_water_.value_or(0), *marker.low_water);
        markers_.pop_front();
    }
}

void Window::restart() noexcept {
    events_.clear();
    markers_.clear();
    bytes_ = 0;
    open_ = false;
}

const WindowEvent* Window::find(std::int64_t number) const noexcept {
    const std::int64_t first = next_ - static_cast<std::int64_t>(events_.size());
    if (number < first || number >= next_) return nullptr;
    const WindowEvent& event = events_[static_cast<std::size_t>(number - first)];
    return event.settled ? nullptr : &event;
}

void Window::each_unsettled(const std::function<bool(WindowEvent&)>& call) {
    for (WindowEvent& one : events_)
        if (!one.settled && !call(one)) return;
}

}  // namespace semel::cdc
