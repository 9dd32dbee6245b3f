#include "semel/kafka/producer.hpp"

#include "semel/base/assert.hpp"
#include "semel/kafka/classify.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace semel::kafka::detail {
namespace {

/// How long purged messages may take to be reported. Nothing is waited for but the client's own threads.
constexpr int purge_milliseconds = 5'000;
/// As long, and as many, as librdkafka allows.
constexpr int linger_milliseconds_max = 900'000;
constexpr int batch_messages_max = 1'000'000;
/// librdkafka's `batch.size`, and about what a broker takes as it comes.
constexpr std::size_t batch_bytes_default = 1'000'000;

// The number of a message travels through librdkafka as its opaque pointer.
// NOLINTBEGIN(performance-no-int-to-ptr, cppcoreguidelines-pro-type-reinterpret-cast)
void* as_opaque(std::size_t number) { return reinterpret_cast<void*>(number); }
std::size_t from_opaque(void* opaque) { return reinterpret_cast<std::size_t>(opaque); }
// NOLINTEND(performance-no-int-to-ptr, cppcoreguidelines-pro-type-reinterpret-cast)

void on_producer_report(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    static_cast<Producer*>(opaque)->delivered(
        {.message = from_opaque(message->_private),
         .code = message->err,
         .maybe_stored = ::rd_kafka_message_status(message) != RD_KAFKA_MSG_STATUS_NOT_PERSISTED});
}

void on_producer_complaint(rd_kafka_t*, int code, const char* what, void* opaque) {
    static_cast<Producer*>(opaque)->complained(code, what);
}

}  // namespace

std::size_t batch_bytes(const Record& record) noexcept {
    // Lengths, times and numbers of a record, each as long as it can become.
    constexpr std::size_t record_overhead = 64;
    constexpr std::size_t header_overhead = 10;
    std::size_t bytes = record_overhead + record.key.size() + record.value.size();
    for (const CloudEventAttribute& one : record.headers) bytes += header_overhead + one.name.size() + one.value.size();
    return bytes;
}

Result<std::unique_ptr<Producer>> Producer::create(const Connection& connection, const Limits& limits,
                                                   const std::vector<Setting>& extra) {
    std::unique_ptr<Producer> made(new Producer());
    Conf conf(connection);
    conf.set("enable.idempotence", "true")
        .set("acks", "all")
        // With more than one request under way, a broker that does not know the producer yet takes the second one although
        // it has not taken the first, and librdkafka concludes from that answer that it has both.
        .set("max.in.flight.requests.per.connection", 1)
        // As Java's clients do, so that all who write a key find the same partition.
        .set("partitioner", "murmur2_random")
        .set("topic.metadata.propagation.max.ms", milliseconds(limits.topic))
        // A broker that is silent for so long is given up, and the message sent over another connection.
        .set("socket.timeout.ms", std::max(milliseconds(limits.message), 1'000));
    made->leaving_ = limits.leaving;
    if (limits.leaving == Leaving::together)
        // Nothing leaves by itself: neither after a while, nor when there is a lot of it, nor does one message end while
        // those behind it go on.
        conf.set("linger.ms", linger_milliseconds_max)
            .set("batch.num.messages", batch_messages_max)
            .set("message.timeout.ms", 0);
    else
        conf.set("linger.ms", 0).set("message.timeout.ms", milliseconds(limits.message));
    for (const Setting& one : extra) conf.set(one.name.c_str(), one.value);
    ::rd_kafka_conf_set_opaque(conf.get(), made.get());
    ::rd_kafka_conf_set_dr_msg_cb(conf.get(), on_producer_report);
    ::rd_kafka_conf_set_error_cb(conf.get(), on_producer_complaint);
    made->client_ = SEMEL_TRY(std::move(conf).make(Conf::Kind::producer));
    return made;
}

Producer::~Producer() {
    // What is left would otherwise be sent while the client shuts down.
    if (client_ && outstanding_ > 0)
        ::rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

int Producer::send(const Record& record, std::size_t message) {
    HeadersHandle headers(::rd_kafka_headers_new(record.headers.size()));
    for (const CloudEventAttribute& one : record.headers) {
        const rd_kafka_resp_err_t added =
            ::rd_kafka_header_add(headers.get(), one.name.data(), static_cast<ssize_t>(one.name.size()),
                                  one.value.data(), static_cast<ssize_t>(one.value.size()));
        SEMEL_ASSERT(added == RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    std::array<rd_kafka_vu_t, 6> parts{};
    parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    parts[0].u.cstr = record.topic.c_str();
    parts[1].vtype = RD_KAFKA_VTYPE_KEY;
    // librdkafka copies them; its interface is older than const.
    // NOLINTBEGIN(cppcoreguidelines-pro-type-const-cast)
    parts[1].u.mem = {.ptr = const_cast<char*>(record.key.data()), .size = record.key.size()};
    parts[2].vtype = RD_KAFKA_VTYPE_VALUE;
    parts[2].u.mem = {.ptr = const_cast<char*>(record.value.data()), .size = record.value.size()};
    // NOLINTEND(cppcoreguidelines-pro-type-const-cast)
    parts[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    parts[3].u.i = RD_KAFKA_MSG_F_COPY;
    parts[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
    parts[4].u.ptr = as_opaque(message);
    parts[5].vtype = RD_KAFKA_VTYPE_HEADERS;
    parts[5].u.headers = headers.get();
    const ErrorHandle failed(::rd_kafka_produceva(client_.get(), parts.data(), parts.size()));
    if (failed) return ::rd_kafka_error_code(failed.get());
    std::ignore = headers.release();  // The message's now.
    ++outstanding_;
    return 0;
}

void Producer::wait(Duration limit) {
    if (leaving_ == Leaving::together)
        // Sends what lingers, and hears the reports.
        ::rd_kafka_flush(client_.get(), milliseconds(limit));
    else
        ::rd_kafka_poll(client_.get(), milliseconds(limit));
}

std::size_t Producer::batch_max() const {
    std::array<char, 32> text{};
    std::size_t size = text.size();
    std::size_t bytes = batch_bytes_default;
    const rd_kafka_conf_t* conf = ::rd_kafka_conf(client_.get());
    if (::rd_kafka_conf_get(conf, "message.max.bytes", text.data(), &size) == RD_KAFKA_CONF_OK)
        bytes = std::min(bytes, static_cast<std::size_t>(std::strtoull(text.data(), nullptr, 10)));
    // The rest is for what the batch itself needs.
    return bytes - bytes / 10;
}

std::vector<Report> Producer::take_reports() { return std::exchange(reports_, {}); }

void Producer::give_up() {
    if (outstanding_ == 0) return;
    ::rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    ::rd_kafka_flush(client_.get(), purge_milliseconds);
    spent_ = true;
}

bool Producer::stopped() const noexcept {
    return ::rd_kafka_fatal_error(client_.get(), nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
}

void Producer::delivered(const Report& report) {
    SEMEL_ASSERT(outstanding_ > 0);
    --outstanding_;
    reports_.push_back(report);
    if (ends_client(report.code)) spent_ = true;
}

void Producer::complained(int code, std::string_view what) {
    complaint_ = what;
    if (ends_client(code)) spent_ = true;
}

}  // namespace semel::kafka::detail
