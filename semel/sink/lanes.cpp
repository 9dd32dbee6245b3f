#include "semel/sink/lanes.hpp"

#include "semel/base/assert.hpp"
#include "semel/sink/sink.hpp"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace semel {

Lanes::Lanes(std::span<const Message> messages) : answers_(messages.size()) {
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> known;
    lane_of_.reserve(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Message& one = messages[i];
        const auto [place, fresh] =
            known.try_emplace({one.tenant, one.aggregate.type, one.aggregate.id}, lanes_.size());
        if (fresh) {
            ready_.push_back(lanes_.size());
            lanes_.emplace_back();
        }
        lanes_[place->second].push_back(i);
        lane_of_.push_back(place->second);
    }
}

std::optional<std::size_t> Lanes::next() {
    if (ready_.empty()) return std::nullopt;
    const std::size_t lane = ready_.front();
    ready_.pop_front();
    ++under_way_;
    return lanes_[lane].front();
}

void Lanes::answered(std::size_t message, Status answer) {
    const std::size_t lane = lane_of_[message];
    SEMEL_ASSERT(under_way_ > 0 && !lanes_[lane].empty() && lanes_[lane].front() == message);
    --under_way_;
    if (!answer) return abandon(lane, answer.error());
    answers_[message] = {};
    lanes_[lane].pop_front();
    if (lanes_[lane].empty()) return;
    if (closed_) return abandon(lane, *why_closed_);
    ready_.push_back(lane);
}

void Lanes::close(const Error& why) {
    if (closed_) return;
    closed_ = true;
    why_closed_ = why;
    for (const std::size_t lane : std::exchange(ready_, {})) abandon(lane, why);
}

void Lanes::abandon(std::size_t lane, const Error& head) {
    answers_[lanes_[lane].front()] = fail(head);
    lanes_[lane].pop_front();
    for (const std::size_t message : std::exchange(lanes_[lane], {})) answers_[message] = fail(behind_unacknowledged());
}

}  // namespace semel
