#pragma once

#include "semel/db/transaction.hpp"
#include "semel/sqlite/open.hpp"
#include "semel/testing/manual_clock.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace semel::sqlite {

/// A store in a directory of its own, with a clock that stands still. A thread that waits for the
/// writer waits on that clock, so a test knows who is queued by counting the waiters.
class StoreTest : public ::testing::Test {
protected:
    void SetUp() override {
        store_ = open_store();
        run("CREATE TABLE item (id INTEGER PRIMARY KEY, note TEXT);"
            "CREATE TABLE part (id INTEGER PRIMARY KEY,"
            "  item INTEGER NOT NULL REFERENCES item (id) DEFERRABLE INITIALLY DEFERRED);");
    }

    [[nodiscard]] std::string path() const { return directory_.path() / "store.db"; }

    [[nodiscard]] std::shared_ptr<Store> open_store(const StoreOptions& options = {}) {
        auto opened = open(path(), options, clock_);
        EXPECT_TRUE(opened) << opened.error().describe();
        return *std::move(opened);
    }

    [[nodiscard]] std::unique_ptr<Session> session() { return store_->session().value(); }

    void run(std::string_view script) {
        const auto own = session();
        Transaction tx(*own, {}, {});
        const Status ran = tx.run_script(script);
        ASSERT_TRUE(ran) << ran.error().describe();
        const auto outcome = std::move(tx).commit();
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }

    /// One transaction that only posts the statement.
    template <class... Values>
    [[nodiscard]] Outcome<> commit_posted(const TransactionOptions& options, Deadline deadline, Sql sql,
                                          const Values&... values) {
        const auto own = session();
        Transaction tx(*own, options, deadline);
        tx.post(sql, values...);
        return std::move(tx).commit();
    }
    [[nodiscard]] Outcome<> insert(std::int64_t id) {
        return commit_posted({}, {}, "INSERT INTO item (id) VALUES ($1)", id);
    }

    /// Starts a transaction on another thread and returns once it waits for the writer, so that
    /// the order of the queue is the order of the calls.
    template <class F>
    void queue(F transaction) {
        queued_.push_back(std::async(std::launch::async, std::move(transaction)));
        clock_.await_waiters(queued_.size());
    }
    void queue_posted(Sql sql) {
        queue([this, sql] { return commit_posted({}, {}, sql); });
    }
    /// The answer of the nth queued transaction, from 0.
    [[nodiscard]] Outcome<> answer(std::size_t n) { return queued_[n].get(); }

    /// Reads on a connection of its own, hence only what is committed.
    template <class T = std::int64_t>
    [[nodiscard]] T committed(Sql sql) {
        const auto own = session();
        Transaction tx(*own, {.access = Access::read_only}, {});
        const auto rows = tx.execute(sql);
        EXPECT_TRUE(rows) << rows.error().describe();
        return rows->template scalar<T>().value();
    }
    [[nodiscard]] std::string ids() {
        return committed<std::string>("SELECT coalesce(group_concat(id), '') FROM (SELECT id FROM item ORDER BY id)");
    }

    testing::TempDir directory_ = testing::TempDir::make("sqlite").value();
    testing::ManualClock clock_{testing::ManualClock::Waiting::blocks};
    std::shared_ptr<Store> store_;
    std::vector<std::future<Outcome<>>> queued_;
};

}  // namespace semel::sqlite
