#include "semel/sqlite/store_test.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <set>
#include <thread>

namespace semel::sqlite {
namespace {

/// Acknowledgements travel from the child to the parent as plain numbers through this descriptor.
constexpr const char* child_pipe = "SEMEL_SQLITE_TEST_PIPE";
constexpr const char* child_path = "SEMEL_SQLITE_TEST_PATH";

/// The child: eight threads commit as fast as they can and report each acknowledgement, until
/// someone kills the process.
TEST(KilledProcess, DISABLED_IsTheChild) {
    const int pipe = std::atoi(std::getenv(child_pipe));
    testing::ManualClock clock(testing::ManualClock::Waiting::blocks);
    const auto store = open(std::getenv(child_path), {.checkpoint_pages = 20}, clock).value();
    std::vector<std::jthread> crowd;
    for (std::int64_t thread = 0; thread < 8; ++thread) {
        crowd.emplace_back([&, thread] {
            const auto own = store->session().value();
            for (std::int64_t id = thread;; id += 8) {
                Transaction tx(*own, {.lock_timeout = std::chrono::hours(1)}, {});
                if (id % 3 == 0 && !tx.execute("SELECT count(*) FROM item WHERE id = $1", id)) std::abort();
                tx.post("INSERT INTO item (id) VALUES ($1)", id);
                tx.post("INSERT INTO part (id, item) VALUES ($1, $1)", id);
                if (!std::move(tx).commit().committed()) std::abort();
                if (::write(pipe, &id, sizeof id) != sizeof id) std::abort();
            }
        });
    }
}

class KilledTest : public StoreTest {
protected:
    /// Starts the child, lets it acknowledge so many transactions, kills it, and returns what it
    /// had acknowledged by then.
    [[nodiscard]] std::vector<std::int64_t> kill_after(std::size_t acknowledgements) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            ::close(ends[0]);
            ::setenv(child_pipe, std::to_string(ends[1]).c_str(), 1);
            ::setenv(child_path, path().c_str(), 1);
            ::execl("/proc/self/exe", "sqlite_test", "--gtest_filter=KilledProcess.DISABLED_IsTheChild",
                    "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
            ::_exit(127);
        }
        ::close(ends[1]);
        std::vector<std::int64_t> acknowledged;
        std::int64_t id = 0;
        while (::read(ends[0], &id, sizeof id) == sizeof id) {
            acknowledged.push_back(id);
            if (acknowledged.size() == acknowledgements) ::kill(child, SIGKILL);
        }
        ::close(ends[0]);
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself: " << status;
        return acknowledged;
    }
};

TEST_F(KilledTest, LosesNothingThatWasAcknowledged) {
    for (const std::size_t acknowledgements : {1U, 50U, 333U}) {
        run("DELETE FROM part; DELETE FROM item");
        store_.reset();
        const auto acknowledged = kill_after(acknowledgements);
        ASSERT_GE(acknowledged.size(), acknowledgements);
        store_ = open_store();
        const auto own = session();
        Transaction tx(*own, {.access = Access::read_only}, {});
        std::set<std::int64_t> kept;
        const auto rows = tx.execute("SELECT id FROM item").value();
        for (const Row row : rows) kept.insert(row.get<std::int64_t>(0).value());
        for (const std::int64_t id : acknowledged) EXPECT_TRUE(kept.contains(id)) << id;
        EXPECT_EQ(committed("SELECT count(*) FROM item"), committed("SELECT count(*) FROM part"))
            << "and what is there is there whole";
        EXPECT_EQ(committed<std::string>("PRAGMA integrity_check"), "ok");
    }
}

}  // namespace
}  // namespace semel::sqlite
