#pragma once

#include "semel/sqlite/handle.hpp"

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace semel::sqlite {

/// A compiled statement and where its values go.
struct Prepared {
    StatementHandle handle;    ///< Null for a text without a statement.
    std::vector<int> numbers;  ///< For each SQLite parameter in order: the n of its `$n`.
    int number_max = 0;        ///< The largest of them.
    bool read_only = false;    ///< Changes nothing, so that it may be cancelled.
};

/// What could not be compiled. `code` 0 means that SQLite liked it and we do not: see `message`.
struct PrepareFailure {
    int code = 0;
    std::string message;
};

/// Compiled statements of one connection by their text; the least recently used one leaves when it
/// is full. Not thread-safe.
class StatementCache {
public:
    StatementCache(sqlite3* database, std::size_t statements_max) noexcept
        : database_(database), statements_max_(statements_max) {}

    /// The statement, or null with `failure` filled in. Valid until the next call.
    [[nodiscard]] Prepared* prepare(std::string_view text, PrepareFailure& failure);
    void clear() noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return recent_.size(); }
    [[nodiscard]] std::size_t misses() const noexcept { return misses_; }

private:
    struct Entry {
        std::string text;
        Prepared prepared;
    };
    [[nodiscard]] bool compile(std::string_view text, Prepared& prepared, PrepareFailure& failure) const;

    sqlite3* database_;
    std::size_t statements_max_;
    std::size_t misses_ = 0;
    std::list<Entry> recent_;                                                   ///< Most recently used first.
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_text_;  ///< Keys live in the entries.
};

}  // namespace semel::sqlite
