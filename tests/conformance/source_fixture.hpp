#pragma once

#include "semel/base/time.hpp"
#include "tests/conformance/source_target.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <vector>

namespace semel::conformance {

/// For INSTANTIATE_TEST_SUITE_P.
inline std::string source_name(const ::testing::TestParamInfo<SourceCase>& one) { return one.param.name; }

/// Base of the suite for sources: sends, receives, compares.
class SourceConformance : public ::testing::TestWithParam<SourceCase> {
protected:
    using Ids = std::vector<std::string>;

    void SetUp() override {
        target = GetParam().make();
        const Status ready = target->prepare();
        if (!ready) GTEST_SKIP() << ready.error().describe();
    }

    [[nodiscard]] std::unique_ptr<Source> open(const SourceSettings& settings = {}) {
        auto made = target->make_source(settings);
        EXPECT_TRUE(made) << made.error().describe();
        return made ? *std::move(made) : nullptr;
    }
    /// A broker that confirms no acknowledgements may lose those that are a moment old.
    void close(std::unique_ptr<Source>& source) {
        if (!target->confirms_acknowledgements())
            std::ignore = source->receive(0, within(std::chrono::milliseconds(300)));
        source.reset();
    }
    /// Sends so many events, those of a key in the order of their numbers, and returns their ids in order.
    Ids send(std::size_t count, std::size_t keys = 5) {
        std::vector<Message> all;
        Ids ids;
        for (std::size_t n = 0; n < count; ++n) {
            Message one;
            one.id = new_uuid();
            one.tenant = "shop";
            one.aggregate = {.type = "order", .id = "o-" + std::to_string(n % keys), .version = ++numbers};
            one.type = "order.changed";
            one.payload = "{\"number\":" + std::to_string(numbers) + "}";
            one.headers = R"({"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})";
            one.created_at = system_clock().wall();
            one.position = numbers;
            ids.push_back(one.id.text());
            all.push_back(std::move(one));
        }
        const Status sent = target->send(all);
        EXPECT_TRUE(sent) << sent.error().describe();
        last_sent = std::move(all);
        return ids;
    }

    [[nodiscard]] static Instant now() { return system_clock().now(); }
    [[nodiscard]] static Deadline within(Duration limit) { return Deadline::after(now(), limit); }

    /// Asks until so many have come; gives up after 20 seconds. A broken connection is no reason to.
    [[nodiscard]] static std::vector<Delivery> take(Source& source, std::size_t count) {
        std::vector<Delivery> all;
        const Instant limit = now() + std::chrono::seconds(20);
        while (all.size() < count && now() < limit) {
            auto some = source.receive(count - all.size(), within(std::chrono::seconds(2)));
            if (!some) {
                EXPECT_NE(some.error().fault, Fault::broken) << some.error().describe();
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                continue;
            }
            EXPECT_LE(some->size(), count - all.size()) << "more than the limit";
            for (Delivery& one : *some) all.push_back(std::move(one));
        }
        EXPECT_EQ(all.size(), count) << "not within 20 seconds";
        return all;
    }
    /// Whatever comes in that time.
    [[nodiscard]] static std::vector<Delivery> take_for(Source& source, Duration limit) {
        std::vector<Delivery> all;
        const Instant until = now() + limit;
        while (now() < until) {
            auto some = source.receive(1'000, Deadline::at(until));
            if (some)
                for (Delivery& one : *some) all.push_back(std::move(one));
        }
        return all;
    }
    [[nodiscard]] static Ids ids(const std::vector<Delivery>& deliveries) {
        Ids all;
        for (const Delivery& one : deliveries) all.push_back(one.message.id);
        return all;
    }
    [[nodiscard]] static Ids sorted(Ids all) {
        std::ranges::sort(all);
        return all;
    }
    [[nodiscard]] static std::vector<DeliveryTag> tags(std::span<const Delivery> deliveries) {
        std::vector<DeliveryTag> all;
        for (const Delivery& one : deliveries) all.push_back(one.tag);
        return all;
    }
    static void acknowledge(Source& source, std::span<const Delivery> deliveries) {
        const Status heard = source.acknowledge(tags(deliveries));
        EXPECT_TRUE(heard) << heard.error().describe();
    }
    [[nodiscard]] static int number(const Delivery& one) {
        return nlohmann::json::parse(one.message.payload).at("number").get<int>();
    }
    static void expect_order(const std::vector<Delivery>& deliveries) {
        std::map<std::string, int> newest;
        for (const Delivery& one : deliveries) {
            EXPECT_GT(number(one), newest[one.message.key]) << "out of order";
            newest[one.message.key] = number(one);
        }
    }

    std::unique_ptr<SourceTarget> target;
    std::int64_t numbers = 0;
    std::vector<Message> last_sent;
};

}  // namespace semel::conformance
