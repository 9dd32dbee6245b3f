#include "semel/http/link.hpp"

#include "semel/base/assert.hpp"

namespace semel::http {

LinkTable::Line LinkTable::line_of(Waiting waiting) noexcept {
    switch (waiting) {
        case Waiting::nothing:
        case Waiting::first_byte:
        case Waiting::head:
        case Waiting::idle:
        case Waiting::farewell: return head;
        case Waiting::body: return body;
        case Waiting::write: return write;
        case Waiting::executor: return handled;
    }
    return handled;
}

void LinkTable::add(Link& link, Waiting waiting, Instant now, Instant limit) {
    SEMEL_ASSERT(!link.listed);
    auto& line = lines_.at(line_of(waiting));
    link.place = line.insert(line.end(), &link);
    link.listed = true;
    link.waiting = waiting;
    link.since = now;
    link.limit = limit;
    ++size_;
}

void LinkTable::move(Link& link, Waiting waiting, Instant now, Instant limit) {
    // One that was evicted a moment ago goes through its last motions.
    if (!link.listed) return;
    auto& line = lines_.at(line_of(waiting));
    line.splice(line.end(), lines_.at(line_of(link.waiting)), link.place);
    link.waiting = waiting;
    link.since = now;
    link.limit = limit;
}

void LinkTable::remove(Link& link) noexcept {
    if (!link.listed) return;
    lines_[line_of(link.waiting)].erase(link.place);
    link.listed = false;
    --size_;
}

Link* LinkTable::victim(Instant now) const noexcept {
    Link* oldest = nullptr;
    for (const Line line : {head, body, write}) {
        if (lines_[line].empty()) continue;
        Link* first = lines_[line].front();
        // A good client waits here too, but only for a moment: it must not go before a slow body.
        if (now - first->since >= slow_after) return first;
        if (oldest == nullptr || first->since < oldest->since) oldest = first;
    }
    return oldest;
}

}  // namespace semel::http
