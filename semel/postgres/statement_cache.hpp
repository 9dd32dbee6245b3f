#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace semel::postgres {

/// The statements of one session by their text, the most recently used first, and which of them
/// the server has prepared under which name. Entries keep their address until `trim`.
class StatementCache {
public:
    enum class State : std::uint8_t {
        unprepared,  ///< The server does not know it.
        preparing,   ///< Its Parse is under way and not answered yet.
        prepared,    ///< Its Parse was answered: it survives even a rollback.
    };
    /// In which form its answers are asked for.
    enum class Answers : std::uint8_t {
        unknown,  ///< In text, to see from the first one of which types they are.
        text,
        binary,  ///< Which spares both sides the conversion.
    };
    struct Entry {
        std::string text;  ///< Owned, because libpq wants it to end with a zero byte.
        std::string name;  ///< Made when it is first prepared; never used twice.
        State state = State::unprepared;
        Answers answers = Answers::unknown;
    };

    /// `limit` bounds what the server keeps for us per session. No two sessions may share a `prefix`: behind a pooler
    /// that is not seen to be one, a name of theirs would be found and something else executed under it.
    StatementCache(std::size_t limit, std::string prefix) noexcept : limit_(limit), prefix_(std::move(prefix)) {}

    /// The entry of this text, added if it is new, and now the most recently used.
    [[nodiscard]] Entry& entry(std::string_view text);
    /// Gives the entry a name of its own and expects its Parse to be answered.
    void start_preparing(Entry& entry);
    /// The server will not, or no longer, run it under this name: a new one is needed.
    void forget_name(Entry& entry) noexcept;
    /// As above for all of them, where the server lost them all.
    void forget_names() noexcept;

    /// Drops the least recently used beyond the limit. Only while no entry is in use.
    void trim();
    /// Names that the server still holds for entries dropped since the last call.
    [[nodiscard]] std::vector<std::string> take_dropped();
    [[nodiscard]] bool has_dropped() const noexcept { return !dropped_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] std::string_view prefix() const noexcept { return prefix_; }

private:
    std::size_t limit_;
    std::string prefix_;
    std::uint64_t names_made_ = 0;
    std::list<Entry> entries_;
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_text_;
    std::vector<std::string> dropped_;
};

}  // namespace semel::postgres
