#include "apps/semel/doctor.hpp"

namespace semel::app {
namespace {

constexpr Duration sqlite_limit = std::chrono::seconds(30);

class SqliteExamination {
public:
    explicit SqliteExamination(std::unique_ptr<Session> session) : session_(std::move(session)) {}

    Result<std::vector<Finding>> run() {
        if (writer()) {
            SEMEL_TRY(journal());
            SEMEL_TRY(damage());
        }
        return std::move(findings_);
    }

private:
    static Deadline soon() { return Deadline::after(system_clock().now(), sqlite_limit); }
    /// In a transaction, since SQLite counts some questions among the writes.
    Result<Rows> ask(Sql sql) {
        SEMEL_TRY(session_->begin({.lock_timeout = std::chrono::seconds(5)}, soon()));
        auto rows = session_->execute({.sql = sql, .parameters = {}, .expected_rows = {}}, soon());
        SEMEL_TRY(session_->rollback(soon()));
        return rows;
    }

    Status journal() {
        const Rows mode = SEMEL_TRY(ask("PRAGMA journal_mode"));
        const std::string journal = SEMEL_TRY(mode.scalar<std::string>());
        const Rows level = SEMEL_TRY(ask("PRAGMA synchronous"));
        const bool full = SEMEL_TRY(level.scalar<std::int64_t>()) >= 2;
        Finding finding{.check = "durability",
                        .what = "journal " + journal + ", synchronous " + (full ? "full" : "less")};
        if (journal != "wal" || !full) {
            finding.verdict = Verdict::bad;
            finding.cause = "an acknowledged command may be gone after a crash, or readers block writers";
            finding.remedy = "the file system may not support WAL (network file systems do not): move the file";
        }
        findings_.push_back(std::move(finding));
        return {};
    }

    Status damage() {
        const Rows rows = SEMEL_TRY(ask("PRAGMA quick_check(1)"));
        const std::string said = SEMEL_TRY(rows.scalar<std::string>());
        Finding finding{.check = "damage", .what = said};
        if (said != "ok") {
            finding.verdict = Verdict::bad;
            finding.cause = "the file is damaged";
            finding.remedy = "restore it from a copy; `sqlite3 FILE .recover` saves what can be read";
        }
        findings_.push_back(std::move(finding));
        return {};
    }

    /// Another process that holds on to its transaction keeps every command waiting. False if the turn cannot be had.
    bool writer() {
        Finding finding{.check = "writer", .what = "the writer's turn is free"};
        const auto taken = ask("SELECT 1");
        if (!taken) {
            finding.verdict = Verdict::bad;
            finding.what = taken.error().message;
            finding.cause = "another process holds the file's writer lock for seconds";
            finding.remedy = "find it (`fuser FILE`); SQLite is for one service on one machine";
        }
        findings_.push_back(std::move(finding));
        return taken.has_value();
    }

    std::unique_ptr<Session> session_;
    std::vector<Finding> findings_;
};

}  // namespace

Result<std::vector<Finding>> examine_sqlite(const Driver& driver) {
    const Deadline limit = Deadline::after(system_clock().now(), sqlite_limit);
    return SqliteExamination(SEMEL_TRY(driver.connect(limit))).run();
}

}  // namespace semel::app
