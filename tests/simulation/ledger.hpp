#pragma once

#include "semel/base/outcome.hpp"
#include "semel/command/command.hpp"
#include "semel/message/message.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace semel::simulation {

class World;

/// How an intent is executed.
enum class Kind : std::uint8_t {
    blind,     ///< Only posts.
    reading,   ///< Looks first.
    plain,     ///< In a transaction without an identity: never more than once for one call.
    leased,    ///< With a call to another system.
    accepted,  ///< The same, by a worker.
};

/// One thing that a client wants done once, and what is known to have become of it.
struct Intent {
    std::size_t number = 0;
    Kind kind = Kind::blind;
    std::string tenant;
    std::string key;  ///< The same key is used by several tenants, for different things.
    int from = 0;
    int to = 0;
    std::int64_t amount = 0;

    // What the database says.
    int effects = 0;
    int events = 0;
    int notes = 0;
    bool failed = false;     ///< A leased one has ended without effect.
    std::int64_t by = 0;     ///< The call that had the effect; 0: a leased one, which has no single one.
    std::int64_t said = -1;  ///< The amount of the effect.
    // What callers were told.
    std::optional<std::string> told;  ///< The reply of success.
    bool refused_for_good = false;
    bool open = false;      ///< Someone was left without a certain answer.
    bool settled = false;   ///< By a person, who answers for it.
    bool accepted = false;  ///< Someone was told that it will be executed.

    [[nodiscard]] bool atomic() const noexcept { return kind != Kind::leased && kind != Kind::accepted; }
};

/// One event on its way.
struct Told {
    std::int64_t aggregate = 0;
    std::int64_t position = 0;
    int pending = 0;
    bool parked = false;
    std::map<std::string, int, std::less<>> consumed;
};

/// What must hold, whatever happens: the invariants of the design, checked after every step that left no transaction
/// open. Triggers write down what is committed; the ledger reads what is new, and compares it with what callers,
/// broker and other systems saw.
class Ledger {
public:
    Ledger(World& world, sqlite3* database);
    ~Ledger();
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    /// Reads what was committed since the last time, unless a transaction is under way.
    void sync();

    // What processes and other systems saw. Judged as soon as the database can be read.
    void answered(std::size_t intent, std::int64_t call, std::int64_t amount, bool final_refusal,
                  const Outcome<Answer>& outcome);
    void published(const Message& message);
    /// A relay begins to commit, and has ended; an empty name is somebody else's.
    void commits(const std::string& relay) { committing_.insert(relay); }
    void has_committed(const std::string& relay) { committed_.push_back(relay); }

    [[nodiscard]] std::vector<Intent>& intents() noexcept { return intents_; }
    [[nodiscard]] const std::map<std::string, Told, std::less<>>& events() const noexcept { return events_; }
    /// Everything has come to an end: what must hold then.
    void check_end();
    /// What has still to come to an end; empty if nothing has. As `before` while a transaction is under way.
    [[nodiscard]] std::string unfinished(std::string before);

    static constexpr Duration record_kept = std::chrono::hours(6);
    static constexpr Duration tombstone_kept = std::chrono::hours(12);
    static constexpr Duration inbox_kept = std::chrono::hours(48);
    static constexpr Duration event_kept = std::chrono::minutes(5);

private:
    void read_new();
    void row(int kind, sqlite3_stmt* row);
    void effect(sqlite3_stmt* row);
    void event(sqlite3_stmt* row);
    [[nodiscard]] Intent* intent_of(std::string_view tenant_and_key);
    void record_forgotten(std::string_view tenant_and_key, std::int64_t expires_at);
    void judge(std::size_t intent, std::int64_t call, std::int64_t amount, bool final_refusal,
               const Outcome<Answer>& outcome);
    void judge_success(Intent& intent, std::int64_t call, std::int64_t amount, const std::string& body);
    void judge_published(const std::string& id, std::int64_t aggregate, std::int64_t position);
    void check_touched();
    [[nodiscard]] std::int64_t number(sqlite3_stmt* query);
    [[nodiscard]] sqlite3_stmt* prepare(std::string_view sql);
    [[nodiscard]] std::int64_t wall() const;

    World* world_;
    sqlite3* database_;
    sqlite3_stmt* new_rows_;
    sqlite3_stmt* sum_;
    sqlite3_stmt* open_records_;
    sqlite3_stmt* pending_;
    sqlite3_stmt* inbox_parked_;
    std::int64_t last_row_ = 0;
    int changes_ = -1;
    bool money_moved_ = false;
    std::vector<Intent> intents_;
    std::map<std::string, Told, std::less<>> events_;
    std::map<std::int64_t, std::set<std::int64_t>> waiting_;  ///< By aggregate: positions that have not left yet.
    std::set<std::string> left_;                              ///< Events whose first delivery was judged.
    std::set<std::int64_t> plain_calls_;                      ///< Of plain transactions that had their effect.
    std::set<std::int64_t> not_committed_;                    ///< Calls that were told so.
    std::multiset<std::string, std::less<>> committing_;      ///< Relays that may have committed what is new.
    std::vector<std::string> committed_;                      ///< Those of them who are done.
    std::set<std::size_t> touched_intents_;
    std::set<std::string> touched_events_;
    std::vector<std::function<void()>> seen_;
};

}  // namespace semel::simulation
