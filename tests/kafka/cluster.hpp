#pragma once

#include "semel/base/result.hpp"
#include "semel/kafka/handles.hpp"
#include "semel/testing/kafka_server.hpp"
#include "tests/conformance/sink_proxy.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct rd_kafka_mock_cluster_s;

namespace semel::kafka {

/// A message as it lies in a topic.
struct Stored {
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::string key{};
    std::string value{};
    std::vector<std::pair<std::string, std::string>> headers{};
};

/// A cluster to test with: a real broker behind a proxy, or librdkafka's own mock.
class Cluster {
public:
    virtual ~Cluster() = default;
    [[nodiscard]] virtual std::string brokers() const = 0;
    /// Makes a topic with a name that nobody has used.
    [[nodiscard]] virtual Result<std::string> fresh_topic(int partitions, const std::string& setting = {}) = 0;
    virtual void be_away(bool away) = 0;
    virtual void be_mute(bool mute) = 0;
};

/// One real broker for the whole program, and the way to it. An Error says why there is none: print it and skip.
class RealCluster final : public Cluster {
public:
    [[nodiscard]] static Result<RealCluster*> shared();
    [[nodiscard]] std::string brokers() const override { return "127.0.0.1:" + std::to_string(proxy_.port()); }
    [[nodiscard]] Result<std::string> fresh_topic(int partitions, const std::string& setting = {}) override;
    void be_away(bool away) override { proxy_.be_away(away); }
    void be_mute(bool mute) override { proxy_.be_mute(mute); }
    void cut_connections() { proxy_.cut_all(); }
    /// Not by way of the proxy, for whoever only looks.
    [[nodiscard]] std::string direct() const { return server_.brokers(); }
    [[nodiscard]] testing::KafkaServer& server() noexcept { return server_; }
    [[nodiscard]] Status crash_and_restart();

private:
    RealCluster(testing::KafkaServer server, int proxy_port);
    testing::KafkaServer server_;
    conformance::SinkProxy proxy_;
    int topics_ = 0;
};

/// Brokers in this process that answer as they are told.
class MockCluster final : public Cluster {
public:
    MockCluster();
    ~MockCluster() override;
    MockCluster(const MockCluster&) = delete;
    MockCluster& operator=(const MockCluster&) = delete;

    [[nodiscard]] std::string brokers() const override;
    [[nodiscard]] Result<std::string> fresh_topic(int partitions, const std::string& setting = {}) override;
    void be_away(bool away) override;
    void be_mute(bool mute) override;

    /// The next produce requests are answered with these codes, each once.
    void answer_produce(const std::vector<int>& codes);
    /// The next produce request is answered with this code, after so long. From then on `answer_produce` has no effect.
    void answer_produce_late(int code, Duration delay);
    [[nodiscard]] rd_kafka_mock_cluster_s* get() const noexcept { return cluster_; }

private:
    ClientHandle client_;
    rd_kafka_mock_cluster_s* cluster_ = nullptr;
    int topics_ = 0;
};

/// Everything that was in a topic when it was asked for and that a reader of committed messages sees, each partition in its
/// order. Waits for the transactions that were under way then, also for those that were committed: a producer is told so
/// before readers can see it.
[[nodiscard]] Result<std::vector<Stored>> read_topic(const std::string& brokers, const std::string& topic);

}  // namespace semel::kafka
