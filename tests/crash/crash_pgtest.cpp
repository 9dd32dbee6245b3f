// A process is killed at every failpoint of commands, transactions, migrations and the tending of the outbox, with real
// files and a real server. It is started again and does the same once more: every command has one effect, its events and
// one reply. tests/crash/points.py holds the list of all failpoints against what was visited here and elsewhere.

#include "semel/command/executor.hpp"
#include "semel/outbox/parked.hpp"
#include "semel/outbox/replay.hpp"
#include "semel/outbox/replay_audit.hpp"
#include "semel/outbox/retention.hpp"
#include "semel/testing/process.hpp"
#include "tests/conformance/target.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace semel::crash {
namespace {

using namespace std::chrono_literals;
using conformance::Target;
using ::testing::HasSubstr;

constexpr const char* child_address = "SEMEL_CRASH_TEST_ADDRESS";
constexpr int commands = 4;

Command command(const std::string& key) {
    return {.identity = Identity::of("shop", "web", "thing.make", key).value(),
            .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of(key))}};
}

/// One row and one event; every second one reads first, so that both ways of claiming are taken.
Result<CommandDecision> make(Work& work, int number) {
    if (number % 2 == 1) SEMEL_TRY(work.tx.execute("SELECT 1"));
    work.tx.post("INSERT INTO effect (n) VALUES ($1)", number);
    work.outbox.append({.aggregate = {.type = "thing", .id = std::to_string(number), .version = 1},
                        .type = "thing.made",
                        .payload = "{}"});
    return Reply{.status = 201, .body = "made " + std::to_string(number)};
}

Result<CommandDecision> refuse(Work& work) {
    work.tx.post("INSERT INTO effect (n) VALUES (-1)");
    return Rejection{.reply = {.status = 422, .body = "never"}, .replay = Replay::yes};
}

OutboxAudit by_hand(std::string action, Database& database) {
    return {.id = UuidGenerator(database.clock(), database.random()).next(),
            .action = std::move(action),
            .actor = "crash",
            .detail = "{}"};
}

/// More than a thousand pages of log, so that it is moved to the file.
Status fill_log(Database& database) {
    const auto filled = transact(database, [](Transaction& tx) -> Status {
        tx.post("CREATE TABLE IF NOT EXISTS filler (bytes BLOB)");
        tx.post("INSERT INTO filler VALUES (zeroblob(5000000))");
        return {};
    });
    return filled.committed() ? Status() : fail(Error(filled.error()));
}

/// The backend of a process that was killed may live a moment longer and hold the key: whoever is told so comes again.
template <class Handler>
Outcome<Answer> execute_as_a_client(Executor& executor, const Command& what, Handler handler) {
    const Instant until = system_clock().now() + 30s;
    for (;;) {
        auto done = executor.execute(what, handler);
        if (done.committed() || verdict_of(done.error()) != ClaimVerdict::in_progress) return done;
        if (system_clock().now() >= until) return done;
        std::ignore = system_clock().sleep(system_clock().now() + 20ms, {});
    }
}

/// Everything that this program can do, in one go; doing it again changes nothing.
Status do_everything(const std::string& address) {
    auto opened = SEMEL_TRY(open(address));
    Database& database = *opened.database;
    const auto soon = [&database] { return Deadline::after(database.clock().now(), 30s); };
    SEMEL_TRY(migrate(database, "semel", opened.schema, soon()));
    if (opened.dialect == Dialect::sqlite) SEMEL_TRY(fill_log(database));
    const auto executor = SEMEL_TRY(Executor::create(database));
    for (int number = 1; number <= commands; ++number) {
        const auto done = execute_as_a_client(*executor, command(std::to_string(number)),
                                              [number](Work& work) { return make(work, number); });
        if (!done.committed()) return fail(Error(done.error()));
        if (done.value().reply.body != "made " + std::to_string(number))
            return fail(Fault::broken, "another reply: " + done.value().reply.body);
    }
    const auto refused = execute_as_a_client(*executor, command("refused"), refuse);
    if (!refused.committed() || refused.value().reply.status != 422) return fail(Fault::broken, "it was not refused");

    const auto parked = SEMEL_TRY(Parked::of(database));
    const auto redriven = parked.redrive("shop", {.type = "thing", .id = "parked"}, soon());
    if (!redriven.committed()) return fail(Error(redriven.error()));
    const auto replay = SEMEL_TRY(EventReplay::of(database));
    const ReplayPlan plan = SEMEL_TRY(replay.find({.type = "thing.left"}, soon()));
    const auto sent = replay.send(plan.events, by_hand("replay", database), soon());
    if (!sent.committed()) return fail(Error(sent.error()));
    const auto retention = SEMEL_TRY(OutboxRetention::of(database));
    const auto pruned = retention.prune(std::chrono::hours(24), {}, 100, by_hand("prune", database), soon());
    if (!pruned.committed()) return fail(Error(pruned.error()));
    return {};
}

/// The child: does everything, unless it is killed at the failpoint that its environment names.
TEST(Crash, DISABLED_IsTheChild) {
    const Status done = do_everything(std::getenv(child_address));
    ASSERT_TRUE(done) << done.error().describe();
}

struct Place {
    const char* name;
    bool sqlite = true;
    bool postgres = true;
    bool before_schema = false;  ///< Visited while the schema is made.
};

constexpr Place places[] = {
    {.name = "migrate.before_commit", .before_schema = true},
    {.name = "migrate.after_commit", .before_schema = true},
    {.name = "transact.before_commit"},
    {.name = "transact.after_commit"},
    {.name = "postgres.before_commit", .sqlite = false},
    {.name = "postgres.after_commit", .sqlite = false},
    {.name = "sqlite.group.before_commit", .postgres = false},
    {.name = "sqlite.group.after_commit", .postgres = false},
    {.name = "sqlite.checkpoint", .postgres = false},
    {.name = "claim.before_finish"},
    {.name = "command.before_commit"},
    {.name = "command.after_commit"},
    {.name = "command.before_rejection"},
    {.name = "outbox.before_append"},
    {.name = "outbox.before_redrive"},
    {.name = "outbox.before_replay"},
    {.name = "outbox.before_prune"},
};

class CrashTest : public conformance::ConformanceTest {
protected:
    [[nodiscard]] bool sqlite() const { return GetParam() == Target::sqlite; }

    /// In a process of its own.
    testing::Finished do_in_child(const std::string& failpoints) {
        testing::Command child;
        child.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                      "--gtest_filter=Crash.DISABLED_IsTheChild", "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
        child.environment = {std::string(child_address) + "=" + address_, "SEMEL_FAILPOINTS=" + failpoints};
        const auto ended = testing::run(child, 60s);
        EXPECT_TRUE(ended) << ended.error().describe();
        return ended ? *ended : testing::Finished{};
    }

    /// An event that is parked, one that left, and one that left long ago.
    void prepare() {
        run(sqlite() ? "CREATE TABLE effect (n INTEGER NOT NULL)" : "CREATE TABLE effect (n bigint NOT NULL)");
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        const auto appended = transact(*database, [&](Transaction& tx) -> Status {
            Outbox outbox(statements, "shop", database->clock(), database->random());
            for (const char* id : {"parked", "left", "old"})
                outbox.append(
                    {.aggregate = {.type = "thing", .id = id}, .type = "thing." + std::string(id), .payload = "{}"});
            outbox.post_to(tx);
            return {};
        });
        ASSERT_TRUE(appended.committed()) << appended.error().describe();
        run(sqlite()
                ? "INSERT INTO semel_outbox_parked (event_id, position, aggregate, partition, tenant, aggregate_type,"
                  " aggregate_id, attempts, reason, blocks, parked_at) SELECT event_id, position, aggregate, partition,"
                  " tenant, aggregate_type, aggregate_id, 1, 'test', 1, 0 FROM semel_outbox_event"
                  " WHERE aggregate_id = 'parked';"
                  "DELETE FROM semel_outbox_pending;"
                  "UPDATE semel_outbox_event SET created_at = 0 WHERE aggregate_id = 'old'"
                : "INSERT INTO semel.outbox_parked (event_id, position, aggregate, partition, tenant, aggregate_type,"
                  " aggregate_id, attempts, reason, blocks) SELECT event_id, position, aggregate, partition, tenant,"
                  " aggregate_type, aggregate_id, 1, 'test', true FROM semel.outbox_event WHERE aggregate_id = "
                  "'parked';"
                  "DELETE FROM semel.outbox_pending;"
                  "UPDATE semel.outbox_event SET created_at = 'epoch' WHERE aggregate_id = 'old'");
    }
    /// As it is when Semel has never been there.
    void forget_schema() {
        database.reset();
        driver_ = {};
        if (sqlite()) {
            for (const char* suffix : {"", "-wal", "-shm"})
                std::filesystem::remove((directory_->path() / "store.db").string() + suffix);
        } else {
            address_ = (*testing::shared_postgres())->fresh_database().value();
        }
    }
    void check_everything(const char* place) {
        EXPECT_EQ(count("SELECT count(*) FROM effect"), commands) << place << ": one effect for each command";
        EXPECT_EQ(count("SELECT count(DISTINCT n) FROM effect"), commands) << place;
        EXPECT_EQ(sqlite() ? count("SELECT count(*) FROM semel_outbox_event WHERE type = 'thing.made'")
                           : count("SELECT count(*) FROM semel.outbox_event WHERE type = 'thing.made'"),
                  commands)
            << place << ": effect and event come together";
        EXPECT_EQ(sqlite() ? count("SELECT count(*) FROM semel_outbox_pending")
                           : count("SELECT count(*) FROM semel.outbox_pending"),
                  commands + 2)
            << place << ": what was told, redriven and replayed, each once";
        EXPECT_EQ(sqlite() ? count("SELECT count(*) FROM semel_outbox_parked")
                           : count("SELECT count(*) FROM semel.outbox_parked"),
                  0)
            << place;
        EXPECT_EQ(sqlite() ? count("SELECT count(*) FROM semel_outbox_event WHERE aggregate_id = 'old'")
                           : count("SELECT count(*) FROM semel.outbox_event WHERE aggregate_id = 'old'"),
                  0)
            << place;
        EXPECT_EQ(sqlite()
                      ? count("SELECT coalesce(sum(events), 0) FROM semel_outbox_audit WHERE action = 'prune'")
                      : count("SELECT coalesce(sum(events), 0)::bigint FROM semel.outbox_audit WHERE action = 'prune'"),
                  1)
            << place << ": the audit tells what was done";
        EXPECT_EQ(sqlite() ? count("SELECT count(*) FROM semel_command_record")
                           : count("SELECT count(*) FROM semel.command_record"),
                  commands + 1)
            << place << ": one record for each command, the refused one included";
    }
};

TEST_P(CrashTest, AtAnyFailpointEachCommandHasOneEffect) {
    for (const Place& place : places) {
        if (place.before_schema || !(sqlite() ? place.sqlite : place.postgres)) continue;
        for (const int visit : {1, 2}) {
            // One is redriven, replayed, pruned and refused, and the log is moved once.
            const std::string_view name = place.name;
            const bool once = name.starts_with("outbox.before_r") || name == "outbox.before_prune" ||
                              name == "command.before_rejection" || name == "sqlite.checkpoint";
            if (visit == 2 && once) continue;
            forget_schema();
            open_database();
            prepare();
            const auto killed = do_in_child(std::string(name) + "=kill@" + std::to_string(visit));
            EXPECT_EQ(killed.exit.signal, SIGKILL) << name << " was not reached: " << killed.output;
            const auto again = do_in_child("");
            EXPECT_TRUE(again.exit.success()) << name << ": " << again.output;
            check_everything(place.name);
            if (HasFailure()) return;
        }
    }
}

TEST_P(CrashTest, InAMigrationTheNextOneGoesOn) {
    for (const Place& place : places) {
        if (!place.before_schema) continue;
        for (const int visit : {1, 2, 3}) {
            forget_schema();
            const auto killed = do_in_child(std::string(place.name) + "=kill@" + std::to_string(visit));
            EXPECT_EQ(killed.exit.signal, SIGKILL) << place.name << " was not reached: " << killed.output;
            open_database();
            prepare();
            const auto again = do_in_child("");
            EXPECT_TRUE(again.exit.success()) << place.name << ": " << again.output;
            check_everything(place.name);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Databases, CrashTest, ::testing::Values(Target::sqlite, Target::postgres),
                         conformance::target_name);

}  // namespace
}  // namespace semel::crash
