#include "semel/sqlite/statement_cache.hpp"

#include "semel/base/assert.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <utility>

namespace semel::sqlite {
namespace {

/// The n of "$n", or 0 for any other way to write a parameter.
int parameter_number(const char* name) noexcept {
    if (name == nullptr || name[0] != '$') return 0;
    const std::string_view digits(name + 1);
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size() && number > 0 ? number : 0;
}

}  // namespace

void CloseDatabase::operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }

void FinalizeStatement::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

Prepared* StatementCache::prepare(std::string_view text, PrepareFailure& failure) {
    if (const auto found = by_text_.find(text); found != by_text_.end()) {
        recent_.splice(recent_.begin(), recent_, found->second);
        return &found->second->prepared;
    }
    ++misses_;
    Prepared prepared;
    if (!compile(text, prepared, failure)) return nullptr;
    if (recent_.size() >= statements_max_) {
        by_text_.erase(recent_.back().text);
        recent_.pop_back();
    }
    recent_.push_front({.text = std::string(text), .prepared = std::move(prepared)});
    by_text_.emplace(recent_.front().text, recent_.begin());
    return &recent_.front().prepared;
}

bool StatementCache::compile(std::string_view text, Prepared& prepared, PrepareFailure& failure) const {
    SEMEL_ASSERT(text.size() < INT_MAX);
    const char* const end = text.data() + text.size();
    const char* tail = nullptr;
    sqlite3_stmt* raw = nullptr;
    int code = sqlite3_prepare_v3(database_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT,
                                  &raw, &tail);
    prepared.handle.reset(raw);
    if (code != SQLITE_OK) {
        failure = {.code = code, .message = sqlite3_errmsg(database_)};
        return false;
    }
    // SQLite would silently leave out whatever follows the first semicolon.
    sqlite3_stmt* second = nullptr;
    code =
        tail == end ? SQLITE_OK : sqlite3_prepare_v2(database_, tail, static_cast<int>(end - tail), &second, nullptr);
    const StatementHandle surplus(second);
    if (code != SQLITE_OK || surplus) {
        failure = {.code = 0, .message = "one statement at a time; several go through run_script"};
        return false;
    }
    const int count = raw == nullptr ? 0 : sqlite3_bind_parameter_count(raw);
    for (int slot = 1; slot <= count; ++slot) {
        const int number = parameter_number(sqlite3_bind_parameter_name(raw, slot));
        if (number == 0) {
            failure = {.code = 0, .message = "parameters are written $1, $2, …; to convert one use CAST($1 AS …)"};
            return false;
        }
        prepared.numbers.push_back(number);
        prepared.number_max = std::max(prepared.number_max, number);
    }
    prepared.read_only = raw == nullptr || sqlite3_stmt_readonly(raw) != 0;
    return true;
}

void StatementCache::clear() noexcept {
    by_text_.clear();
    recent_.clear();
}

}  // namespace semel::sqlite
