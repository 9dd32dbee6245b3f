#include "tests/kafka/cluster.hpp"

#include "semel/kafka/classify.hpp"
#include "semel/kafka/group_member.hpp"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

namespace semel::kafka {
namespace {

using namespace std::chrono_literals;

constexpr std::int16_t produce_request = 0;
constexpr int admin_milliseconds = 20'000;
/// Longer than a transaction of these tests can stay open: its process is gone, and the broker ends it.
constexpr Duration read_limit = 40s;

Result<std::string> class_path() {
    const std::string script = (std::filesystem::path(SEMEL_SOURCE_DIR) / "tools/kafka").string();
    const auto printed = SEMEL_TRY(testing::run({.argv = {script}}, 10min));
    if (!printed.exit.success()) return fail(Fault::unavailable, "no Kafka broker: " + printed.error_output);
    return printed.output.substr(0, printed.output.find('\n'));
}

Result<ClientHandle> plain_client(const std::string& brokers, detail::Conf::Kind kind,
                                  const std::vector<std::pair<const char*, std::string>>& settings = {}) {
    detail::Conf conf({.brokers = brokers});
    for (const auto& [name, value] : settings) conf.set(name, value);
    return std::move(conf).make(kind);
}

Status create_topic(const std::string& brokers, const std::string& topic, int partitions, const std::string& setting) {
    const ClientHandle client = SEMEL_TRY(plain_client(brokers, detail::Conf::Kind::producer));
    std::array<char, 256> why{};
    rd_kafka_NewTopic_t* wanted = ::rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, why.data(), why.size());
    if (const auto equals = setting.find('='); equals != std::string::npos)
        ::rd_kafka_NewTopic_set_config(wanted, setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str());
    const QueueHandle queue(::rd_kafka_queue_new(client.get()));
    ::rd_kafka_CreateTopics(client.get(), &wanted, 1, nullptr, queue.get());
    rd_kafka_event_t* event = ::rd_kafka_queue_poll(queue.get(), admin_milliseconds);
    Status made = fail(Fault::unavailable, "the topic was not made in time");
    if (const rd_kafka_CreateTopics_result_t* result = ::rd_kafka_event_CreateTopics_result(event); result != nullptr) {
        std::size_t count = 0;
        const rd_kafka_topic_result_t** topics = ::rd_kafka_CreateTopics_result_topics(result, &count);
        const rd_kafka_resp_err_t code =
            count == 1 ? ::rd_kafka_topic_result_error(topics[0]) : ::rd_kafka_event_error(event);
        made = code == RD_KAFKA_RESP_ERR_NO_ERROR ? Status() : fail(kafka_error(code, Phase::connect, "create topic"));
    }
    ::rd_kafka_event_destroy(event);
    ::rd_kafka_NewTopic_destroy(wanted);
    return made;
}

/// Nothing is left behind this place, neither shown nor hidden in an open transaction.
bool is_all(rd_kafka_t* client, const std::string& topic, const rd_kafka_message_t& end) {
    std::int64_t first = 0;
    std::int64_t last = 0;
    const rd_kafka_resp_err_t known =
        ::rd_kafka_get_watermark_offsets(client, topic.c_str(), end.partition, &first, &last);
    return known == RD_KAFKA_RESP_ERR_NO_ERROR && end.offset >= last;
}

}  // namespace

RealCluster::RealCluster(testing::KafkaServer server, int proxy_port)
    : server_(std::move(server)),
      proxy_(static_cast<std::uint16_t>(server_.second_port()), static_cast<std::uint16_t>(proxy_port)) {}

Result<RealCluster*> RealCluster::shared() {
    static const Result<std::unique_ptr<RealCluster>> cluster = []() -> Result<std::unique_ptr<RealCluster>> {
        const std::string jars = SEMEL_TRY(class_path());
        const int proxy_port = SEMEL_TRY(testing::free_port());
        auto server = SEMEL_TRY(testing::KafkaServer::start({.class_path = jars, .second_advertised = proxy_port}));
        return std::unique_ptr<RealCluster>(new RealCluster(std::move(server), proxy_port));
    }();
    if (!cluster) return fail(cluster.error());
    return cluster->get();
}

Result<std::string> RealCluster::fresh_topic(int partitions, const std::string& setting) {
    std::string topic = "topic-" + std::to_string(++topics_);
    // A broker that has just started, or had to wait for a processor, is not ready to take it at once.
    Status made;
    for (int attempt = 0; attempt < 40; ++attempt) {
        made = create_topic(direct(), topic, partitions, setting);
        if (made || made.error().cause.code == "TOPIC_ALREADY_EXISTS") return topic;
        std::this_thread::sleep_for(250ms);
    }
    return fail(made.error());
}

Status RealCluster::crash_and_restart() {
    server_.kill9();
    return server_.start_again();
}

MockCluster::MockCluster()
    : client_(plain_client("127.0.0.1:1", detail::Conf::Kind::producer).value()),
      cluster_(::rd_kafka_mock_cluster_new(client_.get(), 1)) {}
MockCluster::~MockCluster() { ::rd_kafka_mock_cluster_destroy(cluster_); }

std::string MockCluster::brokers() const { return ::rd_kafka_mock_cluster_bootstraps(cluster_); }

Result<std::string> MockCluster::fresh_topic(int partitions, const std::string&) {
    std::string topic = "topic-" + std::to_string(++topics_);
    const rd_kafka_resp_err_t made = ::rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
    if (made != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(kafka_error(made, Phase::connect, "create topic"));
    return topic;
}

void MockCluster::be_away(bool away) {
    if (away)
        ::rd_kafka_mock_broker_set_down(cluster_, -1);
    else
        ::rd_kafka_mock_broker_set_up(cluster_, -1);
}

void MockCluster::be_mute(bool mute) { ::rd_kafka_mock_broker_set_rtt(cluster_, -1, mute ? 3'000 : 0); }

void MockCluster::answer_produce(const std::vector<int>& codes) {
    std::vector<rd_kafka_resp_err_t> all;
    for (const int code : codes) all.push_back(static_cast<rd_kafka_resp_err_t>(code));
    ::rd_kafka_mock_push_request_errors_array(cluster_, produce_request, all.size(), all.data());
}

void MockCluster::answer_produce_late(int code, Duration delay) {
    ::rd_kafka_mock_broker_push_request_error_rtts(cluster_, 1, produce_request, 1, code, detail::milliseconds(delay));
}

Result<std::vector<Stored>> read_topic(const std::string& brokers, const std::string& topic) {
    const ClientHandle client = SEMEL_TRY(plain_client(brokers, detail::Conf::Kind::consumer,
                                                       {{"group.id", "reader"},
                                                        {"enable.auto.commit", "false"},
                                                        {"enable.partition.eof", "true"},
                                                        {"isolation.level", "read_committed"},
                                                        {"auto.offset.reset", "earliest"},
                                                        {"fetch.wait.max.ms", "20"}}));
    ::rd_kafka_poll_set_consumer(client.get());
    const rd_kafka_metadata_t* metadata = nullptr;
    rd_kafka_topic_t* handle = ::rd_kafka_topic_new(client.get(), topic.c_str(), nullptr);
    const rd_kafka_resp_err_t asked = ::rd_kafka_metadata(client.get(), 0, handle, &metadata, admin_milliseconds);
    ::rd_kafka_topic_destroy(handle);
    if (asked != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(kafka_error(asked, Phase::connect, "read topic"));
    const int partitions = metadata->topics[0].partition_cnt;
    ::rd_kafka_metadata_destroy(metadata);
    const PartitionsHandle list(::rd_kafka_topic_partition_list_new(partitions));
    for (int n = 0; n < partitions; ++n)
        ::rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), n)->offset = RD_KAFKA_OFFSET_BEGINNING;
    ::rd_kafka_assign(client.get(), list.get());
    std::vector<Stored> all;
    std::set<std::int32_t> ended;
    const Instant until = system_clock().now() + read_limit;
    while (ended.size() < static_cast<std::size_t>(partitions)) {
        if (system_clock().now() > until) return fail(Fault::unavailable, "the topic was not read in time");
        const MessageHandle message(::rd_kafka_consumer_poll(client.get(), 100));
        if (!message) continue;
        // What is shown ends before an open transaction; then there is more to come, and another end.
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && is_all(client.get(), topic, *message))
            ended.insert(message->partition);
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
        const RawMessage raw = detail::raw_message(*message);
        Stored one{.partition = raw.partition,
                   .offset = raw.offset,
                   .key = std::string(raw.key),
                   .value = std::string(raw.value)};
        for (const auto& [name, value] : raw.headers) one.headers.emplace_back(name, value);
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace semel::kafka
