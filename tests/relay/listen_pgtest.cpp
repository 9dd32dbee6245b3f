// A relay in one process, a writer in another: it hears of new events long before its next look.

#include "semel/open/doorbell.hpp"
#include "tests/relay/fixture.hpp"

namespace semel::relaying {
namespace {

class RelayListening : public RelayTest {};

TEST_P(RelayListening, HearsWhatAnotherProcessAppended) {
    RelayOptions how = options();
    how.rules.poll = std::chrono::hours(1);
    ScriptedSink sink;
    Process relaying = process(sink, how);
    const auto listener = open_listener(address_, [this] { bell.ring(); }).value();
    const auto notifier = open_notifier(address_).value();
    if (sqlite()) {
        EXPECT_EQ(listener, nullptr) << "one file, one service: it has nobody to tell";
        EXPECT_EQ(notifier, nullptr);
        return;
    }
    relaying.relay->start();
    ASSERT_TRUE(
        conformance::eventually([&] { return listener->hears() && relaying.relay->report().partitions == 64; }));
    for (int i = 1; i <= 20; ++i) {
        append({i});
        notifier->ring();
        ASSERT_TRUE(conformance::eventually([&] { return sink.first_taken().size() == static_cast<std::size_t>(i); }))
            << "the look of the relay is an hour away";
    }
}

INSTANTIATE_TEST_SUITE_P(Every, RelayListening,
                         ::testing::Values(conformance::Target::sqlite, conformance::Target::postgres), target_name);

}  // namespace
}  // namespace semel::relaying
