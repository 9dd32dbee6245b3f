#include "semel/kafka/group_member.hpp"

#include "semel/base/assert.hpp"
#include "semel/base/time.hpp"
#include "semel/kafka/classify.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <limits>

namespace semel::kafka::detail {
namespace {

/// A member that does not poll for so long has lost its partitions.
constexpr Duration silence_max = std::chrono::minutes(5);
/// A topic that appears, or gets partitions, is noticed after so long.
constexpr Duration metadata_age = std::chrono::seconds(10);
/// So much is fetched ahead at most, in kilobytes.
constexpr std::int64_t prefetch_kilobytes = 16 * 1024;
/// One fetch that finds nothing waits so long at the broker; other partitions wait with it.
constexpr Duration fetch_wait = std::chrono::milliseconds(100);
constexpr int seek_milliseconds = 2'000;
constexpr int leave_slice_milliseconds = 50;
/// Leaving takes some round trips; a broker that does not answer is not waited for.
constexpr Duration leave_limit = std::chrono::seconds(5);

void on_member_rebalance(rd_kafka_t*, rd_kafka_resp_err_t code, rd_kafka_topic_partition_list_t* partitions,
                         void* opaque) {
    static_cast<GroupMember*>(opaque)->rebalanced(code, partitions);
}

void on_member_complaint(rd_kafka_t*, int code, const char* what, void* opaque) {
    static_cast<GroupMember*>(opaque)->complained(code, what);
}

PartitionsHandle list_of(const std::vector<Partition>& partitions) {
    PartitionsHandle list(::rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
    for (const auto& [topic, number] : partitions)
        ::rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), number);
    return list;
}

/// The id that the group has given it; none while it is not in the group.
std::string member_id(rd_kafka_t* client) {
    char* const text = ::rd_kafka_memberid(client);
    std::string id = text == nullptr ? "" : text;
    if (text != nullptr) ::rd_kafka_mem_free(client, text);
    return id;
}

std::vector<Partition> partitions_in(const rd_kafka_topic_partition_list_t& list) {
    std::vector<Partition> all;
    for (int i = 0; i < list.cnt; ++i) all.emplace_back(list.elems[i].topic, list.elems[i].partition);
    return all;
}

}  // namespace

Result<std::unique_ptr<GroupMember>> GroupMember::join(const Options& options, Events events) {
    std::unique_ptr<GroupMember> made(new GroupMember());
    made->events_ = std::move(events);
    Conf conf(options.connection);
    conf.set("group.id", options.group)
        .set("session.timeout.ms", milliseconds(options.patience))
        .set("heartbeat.interval.ms", std::max(milliseconds(options.patience / 4), 1))
        .set("max.poll.interval.ms", milliseconds(std::max(silence_max, options.patience)))
        .set("partition.assignment.strategy", "range,roundrobin")
        .set("enable.auto.offset.store", "false")
        .set("enable.auto.commit", options.commit_interval ? "true" : "false")
        .set("auto.offset.reset", "earliest")
        .set("isolation.level", "read_committed")
        .set("topic.metadata.refresh.interval.ms", milliseconds(metadata_age))
        .set("queued.max.messages.kbytes", prefetch_kilobytes)
        .set("fetch.wait.max.ms", milliseconds(fetch_wait));
    if (options.commit_interval) conf.set("auto.commit.interval.ms", milliseconds(*options.commit_interval));
    ::rd_kafka_conf_set_opaque(conf.get(), made.get());
    ::rd_kafka_conf_set_rebalance_cb(conf.get(), on_member_rebalance);
    ::rd_kafka_conf_set_error_cb(conf.get(), on_member_complaint);
    made->client_ = SEMEL_TRY(std::move(conf).make(Conf::Kind::consumer));
    ::rd_kafka_poll_set_consumer(made->client_.get());
    made->queue_.reset(::rd_kafka_queue_get_consumer(made->client_.get()));
    std::vector<Partition> wanted;
    for (const std::string& topic : options.topics) wanted.emplace_back(topic, RD_KAFKA_PARTITION_UA);
    const rd_kafka_resp_err_t subscribed = ::rd_kafka_subscribe(made->client_.get(), list_of(wanted).get());
    if (subscribed != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(kafka_error(subscribed, Phase::connect, "kafka: cannot subscribe to these topics"));
    return made;
}

GroupMember::~GroupMember() {
    if (!client_) return;
    leave();
    queue_.reset();
}

void GroupMember::leave() {
    // By hand rather than by rd_kafka_consumer_close, which has no limit.
    const QueueHandle last(::rd_kafka_queue_new(client_.get()));
    if (const ErrorHandle failed(::rd_kafka_consumer_close_queue(client_.get(), last.get())); failed) return;
    // What was fetched ahead comes here too and is dropped, however much it is: who stopped at that would leave the group
    // waiting for its patience to end, and librdkafka for a rebalance that nobody serves.
    const Instant until = system_clock().now() + leave_limit;
    while (::rd_kafka_consumer_closed(client_.get()) == 0 && system_clock().now() < until) {
        rd_kafka_event_t* event = ::rd_kafka_queue_poll(last.get(), leave_slice_milliseconds);
        if (::rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE)
            rebalanced(::rd_kafka_event_error(event), ::rd_kafka_event_topic_partition_list(event));
        ::rd_kafka_event_destroy(event);
    }
}

Result<MessageHandle> GroupMember::poll(Duration limit) {
    MessageHandle message(::rd_kafka_consumer_poll(client_.get(), milliseconds(limit)));
    // One call may bring both: a message that is dropped here would never come again. The complaint can wait.
    const bool is_message = message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (complaint_ && !is_message) return fail(*std::exchange(complaint_, std::nullopt));
    if (!message || is_message) return message;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) return MessageHandle();
    const char* what = ::rd_kafka_message_errstr(message.get());
    return fail(kafka_error(message->err, Phase::connect, "kafka: the consumer group gives no messages",
                            what == nullptr ? std::string_view() : std::string_view(what)));
}

void GroupMember::wake() noexcept { ::rd_kafka_queue_yield(queue_.get()); }

std::int64_t GroupMember::end_of(const Partition& partition) const {
    std::int64_t low = 0;
    std::int64_t high = 0;
    const rd_kafka_resp_err_t asked =
        ::rd_kafka_get_watermark_offsets(client_.get(), partition.first.c_str(), partition.second, &low, &high);
    // Unknown: it may be anywhere.
    return asked == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : std::numeric_limits<std::int64_t>::max();
}

Status GroupMember::seek(const Partition& partition, std::int64_t offset) {
    const PartitionsHandle list = list_of({partition});
    list->elems[0].offset = offset;
    const ErrorHandle failed(::rd_kafka_seek_partitions(client_.get(), list.get(), seek_milliseconds));
    const int code = failed ? ::rd_kafka_error_code(failed.get()) : list->elems[0].err;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    return fail(kafka_error(code, Phase::connect, "kafka: cannot go back to what was given back"));
}

void GroupMember::pause(const std::vector<Partition>& partitions) {
    ::rd_kafka_pause_partitions(client_.get(), list_of(partitions).get());
}

void GroupMember::resume(const std::vector<Partition>& partitions) {
    ::rd_kafka_resume_partitions(client_.get(), list_of(partitions).get());
}

Status GroupMember::store(const std::vector<std::pair<Partition, std::int64_t>>& positions) {
    if (positions.empty()) return {};
    const PartitionsHandle list(::rd_kafka_topic_partition_list_new(static_cast<int>(positions.size())));
    for (const auto& [partition, position] : positions)
        ::rd_kafka_topic_partition_list_add(list.get(), partition.first.c_str(), partition.second)->offset = position;
    const rd_kafka_resp_err_t stored = ::rd_kafka_offsets_store(client_.get(), list.get());
    if (stored == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    return fail(kafka_error(stored, Phase::connect, "kafka: the position was not taken; messages may come again"));
}

GroupMetadataHandle GroupMember::membership() const {
    // An id is given out once: whoever has the same before and after had it in between.
    const std::string before = member_id(client_.get());
    GroupMetadataHandle metadata(::rd_kafka_consumer_group_metadata(client_.get()));
    if (before.empty() || member_id(client_.get()) != before) metadata.reset();
    return metadata;
}

bool GroupMember::stopped() const noexcept {
    return ::rd_kafka_fatal_error(client_.get(), nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
}

void GroupMember::rebalanced(int code, rd_kafka_topic_partition_list_s* partitions) {
    if (code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
        ::rd_kafka_assign(client_.get(), partitions);
        events_.assigned(partitions_in(*partitions));
        return;
    }
    if (partitions != nullptr) events_.revoked(partitions_in(*partitions));
    ::rd_kafka_assign(client_.get(), nullptr);
}

void GroupMember::complained(int code, std::string_view what) {
    // Others pass by themselves.
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && code != RD_KAFKA_RESP_ERR__AUTHENTICATION &&
        code != RD_KAFKA_RESP_ERR__FATAL)
        return;
    complaint_ = kafka_error(code, Phase::connect, "kafka: the brokers cannot be reached", what);
}

RawMessage raw_message(const rd_kafka_message_s& message) {
    const auto view = [](const void* data, std::size_t size) {
        return data == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
    };
    RawMessage raw{.topic = ::rd_kafka_topic_name(message.rkt),
                   .partition = message.partition,
                   .offset = message.offset,
                   .key = view(message.key, message.key_len),
                   .value = view(message.payload, message.len),
                   .headers = {}};
    rd_kafka_headers_t* headers = nullptr;
    if (::rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return raw;
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0; ::rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i)
        raw.headers.emplace_back(name, view(value, size));
    return raw;
}

}  // namespace semel::kafka::detail
