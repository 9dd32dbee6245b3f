#pragma once

#include "semel/postgres/encode.hpp"
#include "semel/postgres/statement_cache.hpp"
#include "semel/postgres/wire.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semel::postgres {

/// What a queued step is for; whoever takes the answers tells them apart by it.
enum class Step : std::uint8_t {
    housekeeping,  ///< Its failure touches nothing.
    begin,
    limits,
    statement,
    awaited,  ///< A statement whose rows are wanted.
    mark,
    commit,
    rollback,
    identity,
    status,
    sync,  ///< Ends a segment: an error before it does not reach what is behind it.
};

struct Item {
    Step step;
    const char* text = nullptr;              ///< Of a statement that never gets a name.
    StatementCache::Entry* entry = nullptr;  ///< Of one that may.
    Arena::Range parameters{};
    std::size_t bytes = 0;    ///< About how much it adds to the flush.
    bool parse_sent = false;  ///< An answer to its Parse comes first.
    bool named = false;       ///< It went out under a name.
};

/// Statements queue up here; `exchange` sends them as one flush and takes all answers. The unit of
/// a round trip.
class Pipeline {
public:
    /// Called for each answer, in order; not for Sync and Parse.
    using OnAnswer = std::function<void(const Item&, const PGresult*)>;

    Pipeline(PGconn* connection, Clock& clock, std::size_t statements_max);

    /// Whether statements are prepared under names from now on.
    void use_names(bool names) noexcept { names_ = names; }
    [[nodiscard]] bool uses_names() const noexcept { return names_; }
    /// What all of them begin with, and no other session's.
    [[nodiscard]] std::string_view prefix_of_names() const noexcept { return cache_.prefix(); }
    /// The server does not keep our names: none from now on.
    void stop_using_names() noexcept;
    /// The statement needs preparing afresh.
    void prepare_again(const Item& item) noexcept;

    /// Queues a statement with a copy of its parameters.
    [[nodiscard]] Status add(Step step, std::string_view sql, std::span<const Parameter> parameters,
                             std::optional<std::int64_t> last = {});
    /// Queues a statement without parameters that must never run under a name. The text outlives it.
    void add_plain(Step step, const char* sql);
    void add_sync();
    /// Moves what was added last ahead of the item at `index`.
    void move_last_to(std::size_t index);
    /// Queues the removal of statements the cache gave up, as a segment of its own.
    void add_evictions();

    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    /// Forgets what is queued.
    void clear() noexcept;

    /// Sends what is queued and a Sync, and takes the answers. Nothing is queued afterwards.
    /// `commit_sent()` tells whether a COMMIT reached libpq.
    [[nodiscard]] Wait exchange(Deadline deadline, const OnAnswer& on_answer);
    [[nodiscard]] bool commit_sent() const noexcept { return commit_sent_; }
    /// WARNINGs that came with the answer to the last step and after it.
    [[nodiscard]] std::uint64_t warnings_of_last_step() const noexcept { return wire_.warnings() - warnings_before_; }

    [[nodiscard]] Wire& wire() noexcept { return wire_; }
    [[nodiscard]] const Wire& wire() const noexcept { return wire_; }
    [[nodiscard]] std::uint64_t round_trips() const noexcept { return round_trips_; }
    void count_round_trip() noexcept { ++round_trips_; }

private:
    [[nodiscard]] Wait send_all(Deadline deadline);
    [[nodiscard]] bool send(Item& item);
    [[nodiscard]] Wait receive_all(Deadline deadline, const OnAnswer& on_answer);
    [[nodiscard]] Wait receive_parse(const Item& item, Deadline deadline, const OnAnswer& on_answer);
    [[nodiscard]] Wait receive(const Item& item, Deadline deadline, const OnAnswer& on_answer);
    /// Looks at the first answer to a statement whether the next can come in binary.
    void learn_form(const Item& item, const PGresult* result);

    Wire wire_;
    StatementCache cache_;
    Arena arena_;
    std::vector<Item> items_;
    std::deque<std::string> texts_;  ///< Of plain statements that are not literals.
    bool names_ = false;
    bool commit_sent_ = false;
    std::uint64_t warnings_before_ = 0;
    std::uint64_t round_trips_ = 0;
};

}  // namespace semel::postgres
