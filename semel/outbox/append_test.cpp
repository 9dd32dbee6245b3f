#include "semel/outbox/append.hpp"

#include "semel/db/lock_key.hpp"
#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace semel {
namespace {

constexpr std::array<Catalogue::Entry, 3> entries{Catalogue::Entry{"append_lock", "lock"},
                                                  Catalogue::Entry{"append_version", "version"},
                                                  Catalogue::Entry{"append_event", "event"}};

/// What was posted, in order: the statement and its parameters.
struct Posted {
    std::string sql;
    std::vector<Parameter> parameters;
    std::vector<std::string> texts;  ///< Of the parameters that are texts, which are only borrowed.
};

class RecordingSession final : public Session {
public:
    std::vector<Posted> posted;

    Status begin(const TransactionOptions&, Deadline) override { return {}; }
    void post(const Statement& statement) override {
        Posted one{.sql = std::string(statement.sql.text()),
                   .parameters = {statement.parameters.begin(), statement.parameters.end()},
                   .texts = {}};
        for (const Parameter& parameter : one.parameters)
            if (const auto* text = std::get_if<std::string_view>(&parameter)) one.texts.emplace_back(*text);
        posted.push_back(std::move(one));
    }
    void post_ahead(const Statement&) override { ADD_FAILURE() << "events are the last, not the first"; }
    Result<Rows> look(const Statement&, Deadline) override { return waited(); }
    Result<Rows> execute(const Statement&, Deadline) override { return waited(); }
    Status flush(Deadline) override { return {}; }
    Status run_script(std::string_view, Deadline) override { return {}; }
    Outcome<> commit(Deadline) override { return Committed<void>{}; }
    Status rollback(Deadline) override { return {}; }
    Mark mark() const override { return {}; }
    Result<Resolution> resolve(const Mark&, Deadline) override { return Resolution::unknown; }
    Status reset(Deadline) override { return {}; }
    SessionState state() const noexcept override { return SessionState::transaction; }
    Dialect dialect() const noexcept override { return Dialect::postgres; }

private:
    static Result<Rows> waited() {
        ADD_FAILURE() << "appending waits for nothing";
        return Rows();
    }
};

class OutboxTest : public ::testing::Test {
protected:
    [[nodiscard]] const std::vector<Posted>& post() {
        outbox.post_to(tx);
        return session.posted;
    }
    /// The locks that were taken beforehand.
    [[nodiscard]] std::vector<std::int64_t> locks() const { return numbers("lock", 0); }
    /// The locks that the events are written under.
    [[nodiscard]] std::vector<std::int64_t> locks_of_events() const { return numbers("event", 10); }
    [[nodiscard]] std::vector<std::int64_t> numbers(std::string_view sql, std::size_t parameter) const {
        std::vector<std::int64_t> found;
        for (const Posted& one : session.posted)
            if (one.sql == sql) found.push_back(std::get<std::int64_t>(one.parameters.at(parameter)));
        return found;
    }
    static Event event(std::string id, std::optional<std::int64_t> version = {}) {
        return {.aggregate = {.type = "payment", .id = std::move(id), .version = version},
                .type = "payment.created",
                .payload = "{}"};
    }

    testing::ManualClock clock;
    SeededRandom random{1};
    AppendStatements statements = AppendStatements::from(Catalogue(entries)).value();
    Outbox outbox{statements, "shop", clock, random};
    RecordingSession session;
    Transaction tx{session, {}, {}};
};

TEST_F(OutboxTest, WritesNothingBeforeItIsToldTo) {
    EXPECT_TRUE(outbox.empty());
    outbox.append(event("a"));
    EXPECT_FALSE(outbox.empty());
    EXPECT_TRUE(session.posted.empty());
    EXPECT_EQ(post().size(), 1U);
    EXPECT_TRUE(outbox.empty());
    EXPECT_EQ(post().size(), 1U) << "and never twice";
}

TEST_F(OutboxTest, TakesEveryLockBeforeItDrawsAnyPosition) {
    for (int n = 0; n < 50; ++n) outbox.append(event(std::to_string(n), n));
    bool drawn = false;
    for (const Posted& one : post()) {
        drawn = drawn || one.sql == "event";
        EXPECT_FALSE(drawn && one.sql == "lock");
    }
}

TEST_F(OutboxTest, LeavesASingleLockToTheEventThatNeedsIt) {
    for (int n = 0; n < 3; ++n) outbox.append(event("a"));
    EXPECT_EQ(post().size(), 3U);
    const auto stripe = static_cast<std::uint16_t>(place_of("shop", {.type = "payment", .id = "a"}).stripe);
    const std::array<std::byte, 2> name{static_cast<std::byte>(stripe >> 8U), static_cast<std::byte>(stripe & 0xffU)};
    EXPECT_EQ(locks_of_events(), std::vector<std::int64_t>(3, lock_key("semel.append", name)));
}

TEST_F(OutboxTest, WritesEveryEventUnderALockThatWasTakenBeforehand) {
    for (int n = 0; n < 300; ++n) outbox.append(event(std::to_string(n % 150)));
    std::ignore = post();
    const auto beforehand = locks();
    for (const std::int64_t lock : locks_of_events()) EXPECT_TRUE(std::ranges::binary_search(beforehand, lock));
}

TEST_F(OutboxTest, TakesItsLocksInOneOrderAndEachOnce) {
    for (int n = 0; n < 300; ++n) outbox.append(event(std::to_string(n % 150)));
    std::ignore = post();
    const auto taken = locks();
    EXPECT_TRUE(std::ranges::is_sorted(taken));
    EXPECT_EQ(std::set<std::int64_t>(taken.begin(), taken.end()).size(), taken.size());
    EXPECT_LE(taken.size(), 150U);
}

TEST_F(OutboxTest, HoldsNoMoreLocksThanThereAreStripes) {
    for (int n = 0; n < 40'000; ++n) outbox.append(event(std::to_string(n)));
    std::ignore = post();
    EXPECT_LE(locks().size(), stripe_count);
    EXPECT_GT(locks().size(), stripe_count * 9 / 10) << "and spreads over nearly all of them";
}

TEST_F(OutboxTest, KeepsTheOrderInWhichEventsWereAppended) {
    std::vector<Uuid> ids;
    for (int n = 0; n < 20; ++n) ids.push_back(outbox.append(event(std::to_string(n % 3))));
    EXPECT_TRUE(std::ranges::is_sorted(ids));
    std::vector<Uuid> written;
    for (const Posted& one : post())
        if (one.sql == "event") written.push_back(std::get<Uuid>(one.parameters.at(0)));
    EXPECT_EQ(written, ids);
}

TEST_F(OutboxTest, TellsAVersionBehindTheLockThatItsEventTakes) {
    outbox.append(event("a", 7));
    outbox.append(event("b"));
    std::vector<std::string> order;
    for (const Posted& one : post())
        if (one.sql != "lock") order.push_back(one.sql);
    const std::vector<std::string> expected{"event", "version", "event"};
    EXPECT_EQ(order, expected);
    const Posted& version = *std::ranges::find(session.posted, "version", &Posted::sql);
    const std::vector<std::string> who{"shop", "payment", "a"};
    EXPECT_EQ(version.texts, who);
    EXPECT_EQ(std::get<std::int64_t>(version.parameters.at(3)), 7);
}

TEST(AggregatePlace, IsTheSameForEverAndSpreadsEvenly) {
    // Relays and locks of different versions of the program meet: should this change, order would be lost.
    const AggregatePlace pinned = place_of("shop", {.type = "payment", .id = "1"});
    EXPECT_EQ(pinned.partition, 51U);
    EXPECT_EQ(pinned.stripe, 819U);
    std::map<std::uint32_t, int> partitions;
    for (int n = 0; n < 6400; ++n) {
        const AggregatePlace place = place_of("shop", {.type = "payment", .id = std::to_string(n)});
        ASSERT_LT(place.partition, partition_count);
        ASSERT_LT(place.stripe, stripe_count);
        EXPECT_EQ(place.stripe % partition_count, place.partition) << "both come from one number";
        ++partitions[place.partition];
    }
    EXPECT_EQ(partitions.size(), partition_count);
    for (const auto& [partition, count] : partitions) EXPECT_TRUE(count > 50 && count < 160) << partition;
}

TEST(AggregatePlace, DependsOnTenantTypeAndIdAndNotOnTheVersion) {
    const auto stripe = [](std::string_view tenant, std::string type, std::string id, std::int64_t version = 0) {
        return place_of(tenant, {.type = std::move(type), .id = std::move(id), .version = version}).stripe;
    };
    EXPECT_EQ(stripe("shop", "payment", "1", 1), stripe("shop", "payment", "1", 2));
    const std::set<std::uint32_t> different{stripe("shop", "payment", "1"), stripe("mall", "payment", "1"),
                                            stripe("shop", "order", "1"), stripe("shop", "payment", "2"),
                                            stripe("shop", "paymen", "t1")};
    EXPECT_EQ(different.size(), 5U);
}

TEST(AppendStatements, AreAllThereOrNone) {
    for (std::size_t missing = 0; missing < entries.size(); ++missing) {
        std::vector<Catalogue::Entry> fewer(entries.begin(), entries.end());
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(missing));
        const auto refused = AppendStatements::from(Catalogue(fewer));
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().message.find(entries[missing].name), std::string::npos);
    }
}

}  // namespace
}  // namespace semel
