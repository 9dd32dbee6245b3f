#include "semel/kafka/classify.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>

namespace semel::kafka {
namespace {

constexpr Fault rejected = Fault::rejected;
constexpr Fault conflict = Fault::conflict;
constexpr Fault away = Fault::unavailable;
constexpr Fault throttled = Fault::throttled;
constexpr Fault unknown = Fault::unknown;
constexpr Fault broken = Fault::broken;

constexpr std::array rules{
    // The client's own.
    Rule{"-199", "_BAD_MSG", broken, broken, broken, false, "What the broker sent cannot be read."},
    Rule{"-198", "_BAD_COMPRESSION", broken, broken, broken, false, "What the broker sent cannot be unpacked."},
    Rule{"-197", "_DESTROY", away, conflict, unknown, true, "The client is being shut down."},
    Rule{"-196", "_FAIL", away, conflict, unknown, false, "Something failed between client and broker."},
    Rule{"-195", "_TRANSPORT", away, conflict, unknown, false, "The connection to the broker is lost."},
    Rule{"-194", "_CRIT_SYS_RESOURCE", away, conflict, unknown, true, "The client ran out of threads or memory."},
    Rule{"-193", "_RESOLVE", away, conflict, unknown, false, "The broker's name was not resolved."},
    Rule{"-192", "_MSG_TIMED_OUT", away, conflict, unknown, false, "The message was not delivered in time."},
    Rule{"-190", "_UNKNOWN_PARTITION", rejected, rejected, rejected, false, "The topic has no such partition."},
    Rule{"-188", "_UNKNOWN_TOPIC", rejected, rejected, rejected, true, "There is no such topic."},
    Rule{"-187", "_ALL_BROKERS_DOWN", away, conflict, unknown, false, "No broker can be reached."},
    Rule{"-186", "_INVALID_ARG", rejected, rejected, rejected, false, "A setting or an argument makes no sense."},
    Rule{"-185", "_TIMED_OUT", away, conflict, unknown, false, "The broker did not answer in time."},
    Rule{"-184", "_QUEUE_FULL", throttled, throttled, unknown, false, "The client's queue is full; nothing was sent."},
    Rule{"-183", "_ISR_INSUFF", away, conflict, unknown, false, "Too few replicas keep up."},
    Rule{"-181", "_SSL", rejected, rejected, unknown, false, "TLS failed: a certificate or a setting is wrong."},
    Rule{"-180", "_WAIT_COORD", away, conflict, unknown, false, "The group's coordinator is being looked for."},
    Rule{"-172", "_STATE", away, conflict, unknown, false, "The client is not in a state for this at the moment."},
    Rule{"-169", "_AUTHENTICATION", rejected, rejected, unknown, false, "The credentials were not accepted."},
    Rule{"-168", "_NO_OFFSET", away, conflict, unknown, false, "There is no position to write down."},
    Rule{"-167", "_OUTDATED", away, conflict, unknown, false, "It belongs to an earlier state of the client."},
    Rule{"-152", "_PURGE_QUEUE", away, conflict, unknown, false, "Its time was over before it was sent."},
    Rule{"-151", "_PURGE_INFLIGHT", away, conflict, unknown, false, "Its time was over before it was answered."},
    Rule{"-150", "_FATAL", away, conflict, unknown, true, "The client stopped for good; another takes its place."},
    Rule{"-149", "_INCONSISTENT", away, conflict, unknown, true, "The broker's log and the client's count disagree."},
    Rule{"-148", "_GAPLESS_GUARANTEE", away, conflict, unknown, true, "Going on would leave a gap."},
    Rule{"-147", "_MAX_POLL_EXCEEDED", away, conflict, unknown, false,
         "The consumer did not ask for too long and lost its partitions."},
    Rule{"-144", "_FENCED", conflict, conflict, unknown, true, "A newer instance with the same identity took over."},
    Rule{"-142", "_ASSIGNMENT_LOST", conflict, conflict, unknown, false, "The partitions went to someone else."},
    Rule{"-141", "_NOOP", away, conflict, unknown, false, "There was nothing to do."},
    Rule{"-140", "_AUTO_OFFSET_RESET", away, conflict, unknown, false, "The position is gone from the log."},
    // The broker's.
    Rule{"-1", "UNKNOWN", away, conflict, unknown, false, "The broker failed and does not say how."},
    Rule{"1", "OFFSET_OUT_OF_RANGE", away, conflict, unknown, false, "The position is gone from the log."},
    Rule{"2", "INVALID_MSG", rejected, rejected, rejected, false, "The broker found the batch damaged or senseless."},
    Rule{"3", "UNKNOWN_TOPIC_OR_PART", rejected, rejected, rejected, true, "There is no such topic or partition."},
    Rule{"4", "INVALID_MSG_SIZE", rejected, rejected, rejected, false, "The size of a message makes no sense."},
    Rule{"5", "LEADER_NOT_AVAILABLE", away, conflict, unknown, false, "The partition has no leader at the moment."},
    Rule{"6", "NOT_LEADER_FOR_PARTITION", away, conflict, unknown, false, "Another broker leads the partition now."},
    Rule{"7", "REQUEST_TIMED_OUT", away, conflict, unknown, false, "The replicas did not confirm in time."},
    Rule{"8", "BROKER_NOT_AVAILABLE", away, conflict, unknown, false, "The broker is not available."},
    Rule{"9", "REPLICA_NOT_AVAILABLE", away, conflict, unknown, false, "The replica is not available."},
    Rule{"10", "MSG_SIZE_TOO_LARGE", rejected, rejected, rejected, false,
         "Larger than the topic or the client allows."},
    Rule{"13", "NETWORK_EXCEPTION", away, conflict, unknown, false, "The broker hung up before it answered."},
    Rule{"14", "COORDINATOR_LOAD_IN_PROGRESS", away, conflict, unknown, false, "The coordinator is starting."},
    Rule{"15", "COORDINATOR_NOT_AVAILABLE", away, conflict, unknown, false, "There is no coordinator at the moment."},
    Rule{"16", "NOT_COORDINATOR", away, conflict, unknown, false, "Another broker coordinates the group now."},
    Rule{"17", "TOPIC_EXCEPTION", rejected, rejected, rejected, false, "The topic's name is not allowed."},
    Rule{"18", "RECORD_LIST_TOO_LARGE", rejected, rejected, rejected, false, "The batch is larger than a segment."},
    Rule{"19", "NOT_ENOUGH_REPLICAS", away, conflict, unknown, false, "Too few replicas; nothing was written."},
    Rule{"20", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", unknown, conflict, unknown, false,
         "Written by too few replicas: it may stay or vanish."},
    Rule{"21", "INVALID_REQUIRED_ACKS", rejected, rejected, rejected, false, "The broker does not know these acks."},
    Rule{"22", "ILLEGAL_GENERATION", conflict, conflict, conflict, false, "The group went on without this consumer."},
    Rule{"24", "INVALID_GROUP_ID", rejected, rejected, rejected, false, "The group's name is not allowed."},
    Rule{"25", "UNKNOWN_MEMBER_ID", conflict, conflict, conflict, false, "The group does not know this consumer."},
    Rule{"26", "INVALID_SESSION_TIMEOUT", rejected, rejected, rejected, false,
         "The broker does not allow this session timeout."},
    Rule{"27", "REBALANCE_IN_PROGRESS", conflict, conflict, conflict, false, "Partitions are being handed out anew."},
    Rule{"29", "TOPIC_AUTHORIZATION_FAILED", rejected, rejected, rejected, true, "No right to use the topic."},
    Rule{"30", "GROUP_AUTHORIZATION_FAILED", rejected, rejected, rejected, false, "No right to use the group."},
    Rule{"31", "CLUSTER_AUTHORIZATION_FAILED", rejected, rejected, rejected, false,
         "No right to write with idempotence."},
    Rule{"32", "INVALID_TIMESTAMP", rejected, rejected, rejected, false, "The topic does not allow the timestamp."},
    Rule{"33", "UNSUPPORTED_SASL_MECHANISM", rejected, rejected, rejected, false,
         "The broker knows another mechanism."},
    Rule{"34", "ILLEGAL_SASL_STATE", rejected, rejected, rejected, false, "The broker wants another kind of login."},
    Rule{"35", "UNSUPPORTED_VERSION", rejected, rejected, rejected, false, "The broker is too old for this."},
    Rule{"43", "UNSUPPORTED_FOR_MESSAGE_FORMAT", rejected, rejected, rejected, false,
         "The topic's format is too old for this."},
    Rule{"44", "POLICY_VIOLATION", rejected, rejected, rejected, false, "A policy of the broker forbids it."},
    Rule{"45", "OUT_OF_ORDER_SEQUENCE_NUMBER", away, conflict, unknown, true,
         "The broker misses what was sent before; the client starts again."},
    Rule{"47", "INVALID_PRODUCER_EPOCH", conflict, conflict, unknown, true, "A newer instance took over."},
    Rule{"48", "INVALID_TXN_STATE", conflict, conflict, unknown, true, "The transaction is in another state."},
    Rule{"49", "INVALID_PRODUCER_ID_MAPPING", conflict, conflict, unknown, true,
         "The coordinator does not know the producer any more."},
    Rule{"50", "INVALID_TRANSACTION_TIMEOUT", rejected, rejected, rejected, false,
         "The broker does not allow transactions that long."},
    Rule{"51", "CONCURRENT_TRANSACTIONS", away, conflict, unknown, false,
         "The transaction before is still being ended."},
    Rule{"52", "TRANSACTION_COORDINATOR_FENCED", away, conflict, unknown, true, "Another coordinator took over."},
    Rule{"53", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", rejected, rejected, rejected, false,
         "No right to use the transactional id."},
    Rule{"54", "SECURITY_DISABLED", rejected, rejected, rejected, false, "The broker has no rights to check."},
    Rule{"56", "KAFKA_STORAGE_ERROR", away, conflict, unknown, false, "The broker's disk failed."},
    Rule{"58", "SASL_AUTHENTICATION_FAILED", rejected, rejected, rejected, false, "The credentials were not accepted."},
    Rule{"59", "UNKNOWN_PRODUCER_ID", away, conflict, unknown, true, "The broker forgot the producer."},
    Rule{"74", "FENCED_LEADER_EPOCH", away, conflict, unknown, false, "The partition has a newer leader."},
    Rule{"75", "UNKNOWN_LEADER_EPOCH", away, conflict, unknown, false, "The broker does not know the leader yet."},
    Rule{"76", "UNSUPPORTED_COMPRESSION_TYPE", rejected, rejected, rejected, false,
         "The broker does not know this compression."},
    Rule{"78", "OFFSET_NOT_AVAILABLE", away, conflict, unknown, false, "The new leader does not know its end yet."},
    Rule{"82", "FENCED_INSTANCE_ID", conflict, conflict, conflict, true, "A newer instance with this id took over."},
    Rule{"87", "INVALID_RECORD", rejected, rejected, rejected, false, "The broker's rules do not allow the message."},
    Rule{"88", "UNSTABLE_OFFSET_COMMIT", away, conflict, unknown, false, "A transaction on these offsets is open."},
    Rule{"89", "THROTTLING_QUOTA_EXCEEDED", throttled, throttled, throttled, false, "The broker asks for less."},
    Rule{"90", "PRODUCER_FENCED", conflict, conflict, conflict, true, "A newer instance took over."},
};
static_assert(well_formed(rules));

}  // namespace

std::span<const Rule> kafka_rules() noexcept { return rules; }

std::string kafka_code(int code) { return std::to_string(code); }

Fault classify_kafka(int code, Phase phase) noexcept { return classify(rules, kafka_code(code), phase); }

bool blames_one_of_the_batch(int code) noexcept {
    constexpr std::array codes{RD_KAFKA_RESP_ERR_INVALID_MSG,
                               RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,
                               RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
                               RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
                               RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
                               RD_KAFKA_RESP_ERR_INVALID_RECORD,
                               RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT};
    return std::ranges::find(codes, code) != codes.end();
}

bool ends_client(int code) noexcept {
    const Rule* rule = find(rules, kafka_code(code));
    return rule != nullptr && rule->closes_session;
}

Error kafka_error(int code, Phase phase, std::string message, std::string_view native) {
    const auto known = static_cast<rd_kafka_resp_err_t>(code);
    Error error;
    error.fault = classify_kafka(code, phase);
    error.message = std::move(message);
    error.native = native.empty() ? ::rd_kafka_err2str(known) : std::string(native);
    error.cause.code = ::rd_kafka_err2name(known);
    if (known == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT || known == RD_KAFKA_RESP_ERR__TIMED_OUT)
        error.cause.timeout = Timeout::request;
    if (const Rule* rule = find(rules, kafka_code(code)); rule != nullptr) error.cause.hint = std::string(rule->why);
    return error;
}

}  // namespace semel::kafka
