#include "apps/semel/doctor.hpp"
#include "semel/postgres/listener.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace semel::app {
namespace {

constexpr Duration examine_limit = std::chrono::seconds(30);
/// Of locks that one large transaction of appends may hold: one per stripe.
constexpr std::int64_t stripes = 4096;
/// Below this the two clocks agree well enough for people who read both.
constexpr double clock_notice_seconds = 1;
/// Above this signatures of webhooks are refused by their receivers.
constexpr double clock_bad_seconds = 60;
/// WAL that a slot holds back before someone should know.
constexpr std::int64_t retained_notice_bytes = std::int64_t{1} << 30U;

/// One examination, on two sessions of its own.
class PostgresExamination {
public:
    PostgresExamination(std::unique_ptr<Session> one, std::unique_ptr<Session> other, std::string address)
        : one_(std::move(one)), other_(std::move(other)), address_(std::move(address)) {}

    Result<std::vector<Finding>> run() {
        SEMEL_TRY(server());
        look("durability", &PostgresExamination::durability);
        look("standby", &PostgresExamination::standby);
        look("locks", &PostgresExamination::locks);
        look("lock table", &PostgresExamination::lock_table);
        look("clock", &PostgresExamination::clocks);
        listening();
        look("wal_level", &PostgresExamination::wal_level);
        look("slot", &PostgresExamination::slots);
        look("sequence", &PostgresExamination::sequence);
        return std::move(findings_);
    }

private:
    static Deadline soon() { return Deadline::after(system_clock().now(), examine_limit); }
    Result<Rows> ask(Sql sql) { return one_->look({.sql = sql, .parameters = {}, .expected_rows = {}}, soon()); }
    void good(std::string check, std::string what) {
        findings_.push_back({.check = std::move(check), .what = std::move(what)});
    }
    void found(Finding finding) { findings_.push_back(std::move(finding)); }
    /// One check that cannot be made does not hide the others.
    void look(const char* check, Status (PostgresExamination::*examine)()) {
        if (const Status done = (this->*examine)(); !done)
            found({.check = check,
                   .verdict = Verdict::notice,
                   .what = "not examined: " + done.error().message,
                   .cause = "it took too long, or may not be asked by this role",
                   .remedy = done.error().cause.hint});
    }

    Status server() {
        const Rows rows = SEMEL_TRY(ask("SELECT current_setting('server_version'), pg_is_in_recovery()"));
        const std::string version = SEMEL_TRY(rows.front().get<std::string>(0));
        if (!SEMEL_TRY(rows.front().get<bool>(1))) {
            good("server", "PostgreSQL " + version + ", takes writes");
            return {};
        }
        found({.check = "server",
               .verdict = Verdict::bad,
               .what = "PostgreSQL " + version + ", in recovery",
               .cause = "a standby takes no commands",
               .remedy = "name the primary, or all hosts separated by commas"});
        return {};
    }

    Status durability() {
        const Rows rows =
            SEMEL_TRY(ask("SELECT current_setting('fsync')::bool, current_setting('full_page_writes')::bool, "
                          "current_setting('synchronous_commit')"));
        const bool fsync = SEMEL_TRY(rows.front().get<bool>(0));
        const bool pages = SEMEL_TRY(rows.front().get<bool>(1));
        const std::string commit = SEMEL_TRY(rows.front().get<std::string>(2));
        std::string what = fmt::format("fsync {}, full_page_writes {}, synchronous_commit {}", fsync ? "on" : "off",
                                       pages ? "on" : "off", commit);
        if (fsync && pages && commit != "off") {
            good("durability", std::move(what));
            return {};
        }
        found({.check = "durability",
               .verdict = Verdict::bad,
               .what = std::move(what),
               .cause = "an acknowledged command may be gone after a crash of the server",
               .remedy = "turn them on; commands that may be lost do not need Semel"});
        return {};
    }

    Status standby() {
        const Rows rows =
            SEMEL_TRY(ask("SELECT current_setting('synchronous_standby_names'), "
                          "(SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))"));
        const std::string names = SEMEL_TRY(rows.front().get<std::string>(0));
        const std::int64_t connected = SEMEL_TRY(rows.front().get<std::int64_t>(1));
        if (names.empty()) {
            good("standby", "no synchronous standby is asked for");
            return {};
        }
        if (connected > 0) {
            good("standby", fmt::format("{} synchronous standbys are connected", connected));
            return {};
        }
        found({.check = "standby",
               .verdict = Verdict::bad,
               .what = "synchronous_standby_names is set, and no such standby is connected",
               .cause = "every COMMIT waits for it; commands end as unknown, relays publish nothing",
               .remedy = "bring the standby back, or take it out of synchronous_standby_names"});
        return {};
    }

    /// Two sessions want one lock; only one may get it.
    Status locks() {
        static constexpr Sql take = "SELECT pg_try_advisory_xact_lock(7310593858020254331)";
        const Statement statement{.sql = take, .parameters = {}, .expected_rows = {}};
        const auto in_transaction = [&](Session& session) -> Result<bool> {
            SEMEL_TRY(session.begin({.marked = false}, soon()));
            const Rows rows = SEMEL_TRY(session.execute(statement, soon()));
            return rows.scalar<bool>();
        };
        const bool first = SEMEL_TRY(in_transaction(*one_));
        const bool second = SEMEL_TRY(in_transaction(*other_));
        SEMEL_TRY(one_->rollback(soon()));
        SEMEL_TRY(other_->rollback(soon()));
        if (first && !second) {
            good("locks", "advisory locks exclude each other");
            return {};
        }
        found(
            {.check = "locks",
             .verdict = first ? Verdict::bad : Verdict::notice,
             .what =
                 first ? "two sessions were given the same advisory lock" : "someone else holds the lock of this check",
             .cause = first ? "the order of events per aggregate is not kept, and racing commands meet only at the "
                              "primary key"
                            : "another `semel doctor` may be at work",
             .remedy = first ? "use PostgreSQL itself, not a database that only speaks its protocol" : "run it again"});
        return {};
    }

    Status lock_table() {
        const Rows rows =
            SEMEL_TRY(ask("SELECT current_setting('max_locks_per_transaction')::bigint * "
                          "(current_setting('max_connections')::bigint + "
                          "current_setting('max_prepared_transactions')::bigint)"));
        const auto places = SEMEL_TRY(rows.scalar<std::int64_t>());
        std::string what = fmt::format("room for {} locks; one transaction of appends takes up to {}", places, stripes);
        if (places >= stripes + stripes / 4) {
            good("lock table", std::move(what));
            return {};
        }
        found({.check = "lock table",
               .verdict = Verdict::bad,
               .what = std::move(what),
               .cause = "one large transaction can fill it; then unrelated commands fail with 53200",
               .remedy = "raise max_locks_per_transaction (needs a restart)"});
        return {};
    }

    Status clocks() {
        const auto ours = static_cast<double>(system_clock().wall().time_since_epoch().count()) / 1e6;
        const Rows rows = SEMEL_TRY(ask("SELECT extract(epoch FROM clock_timestamp())::float8"));
        const double difference = SEMEL_TRY(rows.scalar<double>()) - ours;
        const double apart = difference < 0 ? -difference : difference;
        std::string what =
            fmt::format("the server's clock is {:.3f} s {} ours", apart, difference < 0 ? "behind" : "ahead of");
        if (apart < clock_notice_seconds) {
            good("clock", std::move(what));
            return {};
        }
        found({.check = "clock",
               .verdict = apart < clock_bad_seconds ? Verdict::notice : Verdict::bad,
               .what = std::move(what),
               .cause = "leases go by the server's clock, ids, signatures and Retry-After by ours",
               .remedy = "let both follow the same time server"});
        return {};
    }

    void listening() {
        postgres::ConnectOptions options;
        options.connection = address_;
        const Deadline limit = Deadline::after(system_clock().now(), std::chrono::seconds(5));
        const Status heard = postgres::check_listening(options, system_clock(), limit);
        if (heard) return good("listen", "a notification arrives");
        found({.check = "listen",
               .verdict = Verdict::notice,
               .what = heard.error().message,
               .cause = "relays of other processes see new events at their next look only, not at once",
               .remedy = heard.error().cause.hint});
    }

    Status wal_level() {
        const Rows rows = SEMEL_TRY(ask("SELECT current_setting('wal_level')"));
        const std::string level = SEMEL_TRY(rows.scalar<std::string>());
        if (level == "logical") {
            good("wal_level", "logical: relays can read the log (--cdc)");
            return {};
        }
        found({.check = "wal_level",
               .verdict = Verdict::notice,
               .what = level,
               .cause = "relays can poll, but not read the log (--cdc)",
               .remedy = "for --cdc set wal_level = logical (needs a restart)"});
        return {};
    }

    Status slots() {
        const Rows rows = SEMEL_TRY(
            ask("SELECT slot_name::text, active, coalesce(wal_status, 'unknown'), "
                "coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() "
                "ELSE pg_current_wal_lsn() END, restart_lsn), 0)::bigint "
                "FROM pg_replication_slots WHERE database = current_database() AND plugin = 'pgoutput' ORDER BY 1"));
        if (rows.empty()) good("slot", "none: no relay reads the log");
        for (const Row row : rows) {
            const std::string slot = SEMEL_TRY(row.get<std::string>(0));
            const bool active = SEMEL_TRY(row.get<bool>(1));
            const std::string state = SEMEL_TRY(row.get<std::string>(2));
            const std::int64_t retained = SEMEL_TRY(row.get<std::int64_t>(3));
            std::string what = fmt::format("{}: {}, holds back {} MiB of WAL ({})", slot, active ? "in use" : "idle",
                                           retained >> 20U, state);
            if (state == "lost")
                found({.check = "slot",
                       .verdict = Verdict::bad,
                       .what = std::move(what),
                       .cause = "the server threw away WAL that this slot still needed",
                       .remedy = "start its relay: it makes a new slot and sends what is missing from the table"});
            else if (!active || retained > retained_notice_bytes)
                found({.check = "slot",
                       .verdict = Verdict::notice,
                       .what = std::move(what),
                       .cause =
                           active ? "its reader lags behind" : "nobody reads it, and WAL piles up until someone does",
                       .remedy = "start its relay, or drop the slot; bound it by max_slot_wal_keep_size"});
            else
                good("slot", std::move(what));
        }
        return {};
    }

    Result<bool> has_outbox() {
        const Rows rows = SEMEL_TRY(ask("SELECT to_regclass('semel.outbox_event') IS NOT NULL"));
        return rows.scalar<bool>();
    }

    Status sequence() {
        if (!SEMEL_TRY(has_outbox())) return {};
        const Rows rows =
            SEMEL_TRY(ask("SELECT (SELECT max(greatest(position, pending_id)) FROM semel.outbox_pending), "
                          "(SELECT max(position) FROM semel.outbox_event), last_value, is_called "
                          "FROM semel.outbox_position"));
        const auto pending = SEMEL_TRY(rows.front().get<std::optional<std::int64_t>>(0)).value_or(0);
        const auto events = SEMEL_TRY(rows.front().get<std::optional<std::int64_t>>(1)).value_or(0);
        const std::int64_t last = SEMEL_TRY(rows.front().get<std::int64_t>(2));
        const bool called = SEMEL_TRY(rows.front().get<bool>(3));
        const std::int64_t drawn = called ? last : last - 1;
        const std::int64_t highest = std::max(pending, events);
        std::string what = fmt::format("highest position or id {}, last drawn {}", highest, drawn);
        if (highest <= drawn) {
            good("sequence", std::move(what));
            return {};
        }
        found(
            {.check = "sequence",
             .verdict = Verdict::bad,
             .what = std::move(what),
             .cause = "after a restore new events would get positions before older ones, and leave in the wrong order",
             .remedy = fmt::format("with nobody appending: SELECT setval('semel.outbox_position', {})", highest)});
        return {};
    }

    std::unique_ptr<Session> one_;
    std::unique_ptr<Session> other_;
    std::string address_;
    std::vector<Finding> findings_;
};

}  // namespace

Result<std::vector<Finding>> examine_postgres(const Driver& driver, const std::string& address) {
    const Deadline limit = Deadline::after(system_clock().now(), examine_limit);
    auto one = SEMEL_TRY(driver.connect(limit));
    auto other = SEMEL_TRY(driver.connect(limit));
    return PostgresExamination(std::move(one), std::move(other), address).run();
}

}  // namespace semel::app
