#include "semel/kafka/plan.hpp"

#include "semel/base/assert.hpp"
#include "semel/sink/sink.hpp"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace semel::kafka {

PublishPlan::PublishPlan(std::span<const Message> messages, std::size_t window)
    : items_(messages.size()), answers_(messages.size()), window_(window), waiting_(messages.size()) {
    SEMEL_ASSERT(window > 0);
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> known;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Message& one = messages[i];
        const auto [place, fresh] =
            known.try_emplace({one.tenant, one.aggregate.type, one.aggregate.id}, lanes_.size());
        if (fresh) lanes_.emplace_back();
        lanes_[place->second].messages.push_back(i);
        items_[i].lane = place->second;
    }
}

void PublishPlan::begin_round() {
    SEMEL_ASSERT(under_way_ == 0);
    cursor_ = 0;
    round_size_ = 0;
    alone_.reset();
    for (Lane& lane : lanes_) {
        lane.last.reset();
        lane.held = false;
    }
    // In company it would be refused again, whoever is guilty. Suspects are the first of their aggregates.
    for (std::size_t i = 0; i < items_.size() && !alone_; ++i)
        if (items_[i].suspect && items_[i].stage == Stage::waiting) alone_ = i;
}

std::optional<std::size_t> PublishPlan::next() {
    if (under_way_ >= window_) return std::nullopt;
    if (alone_) return items_[*alone_].stage == Stage::waiting && round_size_ == 0 ? alone_ : std::nullopt;
    for (; cursor_ < items_.size(); ++cursor_)
        if (items_[cursor_].stage == Stage::waiting && !lanes_[items_[cursor_].lane].held) return cursor_;
    return std::nullopt;
}

std::optional<std::size_t> PublishPlan::ahead_of(std::size_t message) const {
    return lanes_[items_[message].lane].last;
}

void PublishPlan::begun(std::size_t message) {
    Item& item = items_[message];
    SEMEL_ASSERT(item.stage == Stage::waiting);
    item.stage = Stage::under_way;
    --waiting_;
    ++under_way_;
    ++round_size_;
    lanes_[item.lane].last = message;
}

void PublishPlan::hold(std::size_t message) { lanes_[items_[message].lane].held = true; }

void PublishPlan::settle(std::size_t message, Status answer) {
    Item& item = items_[message];
    SEMEL_ASSERT(item.stage != Stage::answered);
    --(item.stage == Stage::under_way ? under_way_ : waiting_);
    item.stage = Stage::answered;
    answers_[message] = std::move(answer);
}

void PublishPlan::answered(std::size_t message, Status answer) {
    const bool failed = !answer;
    settle(message, std::move(answer));
    if (failed) stop(lanes_[items_[message].lane]);
}

void PublishPlan::refused(std::size_t message, const Error& why) {
    Item& item = items_[message];
    // Nobody else is to blame.
    if (round_size_ == 1) return answered(message, fail(why));
    if (why_closed_) return answered(message, fail(*why_closed_));
    if (lanes_[item.lane].stopped) return settle(message, fail(behind_unacknowledged()));
    SEMEL_ASSERT(item.stage == Stage::under_way);
    item.stage = Stage::waiting;
    item.suspect = true;
    --under_way_;
    ++waiting_;
}

void PublishPlan::stop(Lane& lane) {
    lane.stopped = true;
    for (const std::size_t message : lane.messages)
        if (items_[message].stage == Stage::waiting) settle(message, fail(behind_unacknowledged()));
}

void PublishPlan::close(const Error& why) {
    if (why_closed_) return;
    why_closed_ = why;
    for (std::size_t i = 0; i < items_.size(); ++i)
        if (items_[i].stage == Stage::waiting) answered(i, fail(why));
}

std::vector<Status> PublishPlan::take() && {
    for (const Lane& lane : lanes_) {
        bool failed = false;
        for (const std::size_t message : lane.messages) {
            if (answers_[message]) continue;
            if (std::exchange(failed, true)) answers_[message] = fail(behind_unacknowledged());
        }
    }
    return std::move(answers_);
}

}  // namespace semel::kafka
