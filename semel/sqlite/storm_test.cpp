#include "semel/base/random.hpp"
#include "semel/sqlite/store_test.hpp"

#include <mutex>
#include <set>
#include <thread>

namespace semel::sqlite {
namespace {

/// Sixty-four threads do everything at once that a member may do to a group.
class Storm : public StoreTest {
protected:
    static constexpr int threads = 64;
    static constexpr std::int64_t each = 60;

    /// One transaction of a kind drawn by chance. `id` is new, 0 is taken.
    [[nodiscard]] Outcome<> one(Session& own, Random& random, std::int64_t id) {
        Transaction tx(own, {.lock_timeout = std::chrono::hours(1)}, {});
        switch (random.below(8)) {
            case 0: tx.post("INSERT INTO item (id) VALUES (0)"); break;
            case 1: tx.post("INSERT OR ROLLBACK INTO item (id) VALUES (0)"); break;
            case 2: tx.post("INSERT INTO part (id, item) VALUES ($1, -1)", id); break;
            case 3:
            case 4:
                if (const auto rows = tx.execute("SELECT count(*) FROM item WHERE id = $1", id); !rows)
                    return NotCommitted{rows.error()};
                break;
            default: break;
        }
        tx.post("INSERT INTO item (id) VALUES ($1)", id);
        return std::move(tx).commit();
    }
};

TEST_F(Storm, KeepsExactlyWhatWasAcknowledged) {
    run("INSERT INTO item (id) VALUES (0)");
    std::mutex mutex;
    std::set<std::int64_t> acknowledged{0};
    std::size_t refused = 0;
    {
        std::vector<std::jthread> crowd;
        for (int thread = 0; thread < threads; ++thread) {
            crowd.emplace_back([&, thread] {
                SeededRandom random(static_cast<std::uint64_t>(thread) + 1);
                const auto own = session();
                for (std::int64_t i = 0; i < each; ++i) {
                    const std::int64_t id = 1 + thread * each + i;
                    const auto outcome = one(*own, random, id);
                    EXPECT_FALSE(outcome.unknown());
                    EXPECT_TRUE(own->reset({}));
                    const std::lock_guard guard(mutex);
                    if (outcome.committed())
                        acknowledged.insert(id);
                    else
                        ++refused;
                }
            });
        }
    }
    const auto own = session();
    Transaction tx(*own, {.access = Access::read_only}, {});
    std::set<std::int64_t> kept;
    const auto rows = tx.execute("SELECT id FROM item").value();
    for (const Row row : rows) kept.insert(row.get<std::int64_t>(0).value());
    EXPECT_EQ(kept, acknowledged);
    EXPECT_EQ(acknowledged.size() - 1 + refused, static_cast<std::size_t>(threads * each));
    EXPECT_GT(acknowledged.size(), static_cast<std::size_t>(threads * each / 3));
    EXPECT_EQ(committed("SELECT count(*) FROM part"), 0);

    const StoreStats stats = store_->stats();
    EXPECT_GT(stats.destroyed, 0U) << "the storm must have destroyed groups to prove anything";
    EXPECT_LT(stats.commits, stats.committed) << "and commits must have been shared";
    EXPECT_EQ(stats.waiting, 0U);
}

}  // namespace
}  // namespace semel::sqlite
