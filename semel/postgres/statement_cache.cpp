#include "semel/postgres/statement_cache.hpp"

#include <charconv>
#include <utility>

namespace semel::postgres {

StatementCache::Entry& StatementCache::entry(std::string_view text) {
    if (const auto found = by_text_.find(text); found != by_text_.end()) {
        if (found->second != entries_.begin()) entries_.splice(entries_.begin(), entries_, found->second);
        return entries_.front();
    }
    entries_.emplace_front().text = text;
    by_text_.emplace(entries_.front().text, entries_.begin());
    return entries_.front();
}

void StatementCache::start_preparing(Entry& entry) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, names_made_++).ptr;
    entry.name = prefix_;
    entry.name.append(digits, end);
    entry.state = State::preparing;
    entry.answers = Answers::unknown;
}

void StatementCache::forget_name(Entry& entry) noexcept {
    if (entry.state == State::prepared) dropped_.push_back(std::move(entry.name));
    entry.name.clear();
    entry.state = State::unprepared;
}

void StatementCache::forget_names() noexcept {
    for (Entry& entry : entries_) {
        entry.name.clear();
        entry.state = State::unprepared;
    }
    dropped_.clear();
}

void StatementCache::trim() {
    while (entries_.size() > limit_) {
        Entry& oldest = entries_.back();
        if (oldest.state == State::prepared) dropped_.push_back(std::move(oldest.name));
        by_text_.erase(oldest.text);
        entries_.pop_back();
    }
}

std::vector<std::string> StatementCache::take_dropped() { return std::exchange(dropped_, {}); }

}  // namespace semel::postgres
