// Group commit on SQLite against one commit per command: the same threads and statements on files of
// one disk, synchronous=FULL. Beside them, what a program without Semel does: a connection behind a
// mutex.

#include "bench/harness.hpp"
#include "semel/db/transact.hpp"
#include "semel/sqlite/open.hpp"
#include "semel/testing/temp_dir.hpp"

#include <sqlite3.h>

#include <cstdio>
#include <mutex>

namespace semel::bench {
namespace {

/// One file with its database.
class File {
public:
    static Result<File> create(const std::filesystem::path& path, std::size_t members_max, std::size_t threads) {
        sqlite::StoreOptions options;
        options.group_members_max = members_max;
        auto store = SEMEL_TRY(sqlite::open(path, options));
        DatabaseOptions pool;
        pool.pool.size = threads;
        auto database = SEMEL_TRY(Database::create(sqlite::connector(store), pool));
        const auto made = transact(*database, [](Transaction& tx) {
            return tx.run_script(
                "CREATE TABLE payment (id INTEGER PRIMARY KEY, account INTEGER NOT NULL, amount INTEGER NOT NULL)");
        });
        if (!made.committed()) return fail(made.error());
        return File(std::move(store), std::move(database));
    }

    using Work = Status (*)(Transaction&, std::int64_t account, std::int64_t amount);

    Result<Sample> run(std::size_t threads, Duration time, Work work) {
        const sqlite::StoreStats before = store_->stats();
        Sample sample = SEMEL_TRY(run_threads(threads, time, [&](std::size_t thread, std::uint64_t n) {
            return transact(*database_, [&](Transaction& tx) {
                return work(tx, static_cast<std::int64_t>(thread), static_cast<std::int64_t>(n));
            });
        }));
        const sqlite::StoreStats after = store_->stats();
        const auto committed = static_cast<double>(after.committed - before.committed);
        const auto commits = static_cast<double>(after.commits - before.commits);
        sample.each["members"] = committed / commits;
        sample.each["fsyncs"] = commits / committed;
        sample.each["fsyncs_saved"] = (committed - commits) / sample.seconds;
        sample.each["commits_s"] = commits / sample.seconds;
        return sample;
    }

private:
    File(std::shared_ptr<sqlite::Store> store, std::unique_ptr<Database> database)
        : store_(std::move(store)), database_(std::move(database)) {}
    std::shared_ptr<sqlite::Store> store_;
    std::unique_ptr<Database> database_;
};

/// One connection behind a mutex, three prepared statements.
class Plain {
public:
    static Result<std::unique_ptr<Plain>> create(const std::filesystem::path& path) {
        auto plain = std::make_unique<Plain>();
        bool well = sqlite3_open(path.c_str(), &plain->connection_) == SQLITE_OK;
        well = well &&
               sqlite3_exec(
                   plain->connection_,
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                   "CREATE TABLE payment (id INTEGER PRIMARY KEY, account INTEGER NOT NULL, amount INTEGER NOT NULL)",
                   nullptr, nullptr, nullptr) == SQLITE_OK;
        well = well && plain->prepare(plain->begin_, "BEGIN IMMEDIATE") && plain->prepare(plain->commit_, "COMMIT") &&
               plain->prepare(plain->insert_, "INSERT INTO payment (account, amount) VALUES (?1, ?2)");
        if (!well) return fail(Fault::unavailable, sqlite3_errmsg(plain->connection_));
        return plain;
    }
    Plain() = default;
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;
    ~Plain() {
        for (sqlite3_stmt* statement : {begin_, insert_, commit_}) sqlite3_finalize(statement);
        sqlite3_close(connection_);
    }

    Result<Sample> run(std::size_t threads, Duration time) {
        return run_threads(threads, time, [&](std::size_t thread, std::uint64_t n) -> Outcome<> {
            const std::lock_guard guard(mutex_);
            sqlite3_bind_int64(insert_, 1, static_cast<std::int64_t>(thread));
            sqlite3_bind_int64(insert_, 2, static_cast<std::int64_t>(n));
            if (step(begin_) && step(insert_) && step(commit_)) return Committed<void>{};
            return NotCommitted{
                Error{.fault = Fault::broken, .message = sqlite3_errmsg(connection_), .native = {}, .cause = {}}};
        });
    }

private:
    bool prepare(sqlite3_stmt*& statement, const char* sql) {
        return sqlite3_prepare_v2(connection_, sql, -1, &statement, nullptr) == SQLITE_OK;
    }
    static bool step(sqlite3_stmt* statement) {
        const bool done = sqlite3_step(statement) == SQLITE_DONE;
        sqlite3_reset(statement);
        return done;
    }

    std::mutex mutex_;
    sqlite3* connection_ = nullptr;
    sqlite3_stmt* begin_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
    sqlite3_stmt* commit_ = nullptr;
};

Status posted(Transaction& tx, std::int64_t account, std::int64_t amount) {
    tx.post("INSERT INTO payment (account, amount) VALUES ($1, $2)", account, amount);
    return {};
}

Status executed(Transaction& tx, std::int64_t account, std::int64_t amount) {
    SEMEL_TRY(tx.execute("INSERT INTO payment (account, amount) VALUES ($1, $2)", account, amount));
    return {};
}

Status compare(std::size_t threads, const std::string& verb, File::Work work, const Settings& settings,
               nlohmann::json& result) {
    const testing::TempDir dir = SEMEL_TRY(testing::TempDir::make("group"));
    if (lives_in_memory(dir.path()))
        std::fprintf(stderr, "warning: the files are in memory; set TMPDIR to a directory on a disk\n");
    File grouped =
        SEMEL_TRY(File::create(dir.path() / "grouped.db", sqlite::StoreOptions().group_members_max, threads));
    File single = SEMEL_TRY(File::create(dir.path() / "single.db", 1, threads));
    const auto plain = SEMEL_TRY(Plain::create(dir.path() / "plain.db"));
    const std::string what = std::to_string(threads) + " threads, INSERT " + verb;
    const std::vector<Side> sides{
        {what + ", one commit each", [&](Duration time) { return single.run(threads, time, work); }},
        {what + ", group commit", [&](Duration time) { return grouped.run(threads, time, work); }},
        {what + ", plain SQLite", [&](Duration time) { return plain->run(threads, time); }},
    };
    const std::vector<Series> all = SEMEL_TRY(run_rounds(sides, settings));
    print(all, {"members", "fsyncs", "fsyncs_saved", "commits_s", "client_us", "allocations"});
    const std::string name = "sqlite_group_" + std::to_string(threads) + "_" + verb;
    result["comparisons"].push_back(compared(name, all[1], all[0]));
    result["comparisons"].push_back(compared(name + "_to_plain", all[1], all[2]));
    for (const Series& series : all) result["series"].push_back(series.json());
    return {};
}

Status run(const Settings& settings) {
    nlohmann::json result{{"comparisons", nlohmann::json::array()}, {"series", nlohmann::json::array()}};
    for (const std::size_t threads : {32U, 64U}) {
        SEMEL_TRY(compare(threads, "posted", posted, settings, result));
        SEMEL_TRY(compare(threads, "executed", executed, settings, result));
    }
    if (!write(settings, result)) return fail(Fault::unavailable, "the result is lost");
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const Settings settings = read_settings(argc, argv, "group commit on SQLite against one commit per command");
    const semel::Status done = run(settings);
    if (!done) std::fprintf(stderr, "sqlite_group_bench: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
