#include "semel/sink/checked_sink.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace semel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Notes what it is sent; what it is told not to take is `unavailable`, and holds back what stands behind it.
class NotingSink final : public Sink {
public:
    struct Log {
        std::vector<std::int64_t> sent;
        int publishes = 0;
        std::set<std::int64_t> away;
        bool silent = false;
    };
    explicit NotingSink(Log& log) : log_(&log) {}
    std::vector<Status> publish(std::span<const Message> messages, Deadline) override {
        ++log_->publishes;
        std::vector<Status> answers;
        std::set<std::string> stopped;
        for (const Message& one : messages) {
            if (log_->silent) break;
            if (stopped.contains(one.aggregate.id)) {
                answers.push_back(fail(behind_unacknowledged()));
            } else if (log_->away.contains(one.position)) {
                stopped.insert(one.aggregate.id);
                answers.push_back(fail(Fault::unavailable, "away"));
            } else {
                log_->sent.push_back(one.position);
                answers.emplace_back();
            }
        }
        return answers;
    }

private:
    Log* log_;
};

class CheckedSinkTest : public ::testing::Test {
protected:
    /// The next event of an aggregate; with `bad` as its payload it does not pass.
    void add(const std::string& aggregate, const std::string& payload = "good", const std::string& tenant = "shop") {
        Message one;
        one.tenant = tenant;
        one.aggregate = {.type = "order", .id = aggregate};
        one.payload = payload;
        one.position = static_cast<std::int64_t>(batch.size()) + 1;
        batch.push_back(std::move(one));
    }
    /// By position: "ok", "refused", "behind", or the fault.
    std::vector<std::string> publish() {
        CheckedSink sink(std::make_unique<NotingSink>(log), [](const Message& one) -> Status {
            if (one.payload == "good") return {};
            return fail(Fault::broken, "it is bad");
        });
        std::vector<std::string> told;
        for (const Status& one : sink.publish(batch, {}))
            told.push_back(one                                                      ? "ok"
                           : one.error().message == behind_unacknowledged().message ? "behind"
                           : is_final(one.error()) && one.error().message == "it is bad"
                               ? "refused"
                               : name(one.error().fault).data());
        return told;
    }
    std::vector<Message> batch;
    NotingSink::Log log;
};

TEST_F(CheckedSinkTest, SendsABatchThatPassesAsItIs) {
    add("a"), add("b"), add("a");
    EXPECT_THAT(publish(), ElementsAre("ok", "ok", "ok"));
    EXPECT_THAT(log.sent, ElementsAre(1, 2, 3));
    EXPECT_EQ(log.publishes, 1);
}

TEST_F(CheckedSinkTest, RefusesForGoodAndHoldsBackOnlyWhatStandsBehindInTheAggregate) {
    add("a"), add("a", "bad"), add("b"), add("a"), add("a", "bad"), add("a", "good", "elsewhere");
    EXPECT_THAT(publish(), ElementsAre("ok", "refused", "ok", "behind", "behind", "ok"));
    EXPECT_THAT(log.sent, ElementsAre(1, 3, 6));
}

TEST_F(CheckedSinkTest, RefusesNothingThatStandsBehindAnUnacknowledgedMessage) {
    log.away = {1};
    add("a"), add("a", "bad"), add("a"), add("b", "bad");
    EXPECT_THAT(publish(), ElementsAre("unavailable", "behind", "behind", "refused"));
    EXPECT_THAT(log.sent, IsEmpty());
}

TEST_F(CheckedSinkTest, AsksNobodyWhenNothingPasses) {
    add("a", "bad"), add("b", "bad");
    EXPECT_THAT(publish(), ElementsAre("refused", "refused"));
    EXPECT_EQ(log.publishes, 0);
}

TEST_F(CheckedSinkTest, TakesAMissingAnswerForAnUnknownOne) {
    log.silent = true;
    add("a"), add("b", "bad");
    EXPECT_THAT(publish(), ElementsAre("unknown", "refused"));
}

}  // namespace
}  // namespace semel
