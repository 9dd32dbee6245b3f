#include "semel/kafka/progress.hpp"

#include <algorithm>

namespace semel::kafka {

PartitionProgress::Arrival PartitionProgress::arrived(std::int64_t offset, std::int64_t end) {
    if (!begun_below_) begun_below_ = end;
    if (offset < done_below_) return Arrival::ignored;
    const auto [entry, fresh] = entries_.try_emplace(offset, State::held);
    if (fresh) {
        if (begun_left_ == 0 || offset >= *begun_below_) return Arrival::fresh;
        --begun_left_;
        return Arrival::begun;
    }
    if (entry->second != State::given_back) return Arrival::ignored;
    entry->second = State::held;
    return Arrival::begun;
}

std::optional<std::int64_t> PartitionProgress::done(std::int64_t offset) {
    const auto entry = entries_.find(offset);
    if (entry == entries_.end()) return std::nullopt;
    entry->second = State::done;
    std::optional<std::int64_t> position;
    while (!entries_.empty() && entries_.begin()->second == State::done) {
        // Offsets may leave gaps, so the next position is the one behind what was delivered.
        position = done_below_ = entries_.begin()->first + 1;
        entries_.erase(entries_.begin());
    }
    return position;
}

void PartitionProgress::give_back(std::int64_t offset) {
    const auto entry = entries_.find(offset);
    if (entry != entries_.end() && entry->second == State::held) entry->second = State::given_back;
}

std::optional<std::int64_t> PartitionProgress::rewind() const {
    const auto first = std::ranges::find(entries_, State::given_back, [](const auto& entry) { return entry.second; });
    return first == entries_.end() ? std::nullopt : std::optional(first->first);
}

}  // namespace semel::kafka
