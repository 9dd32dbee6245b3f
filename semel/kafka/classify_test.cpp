#include "semel/kafka/classify.hpp"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <ostream>

namespace semel::kafka {
namespace {

using enum Fault;

struct CodeExpectation {
    int code;
    Fault not_stored;
    Fault in_transaction;
    Fault maybe_stored;
    bool ends;

    friend void PrintTo(const CodeExpectation& one, std::ostream* out) {
        *out << ::rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(one.code));
    }
};

constexpr CodeExpectation code_expectations[] = {
    {RD_KAFKA_RESP_ERR__BAD_MSG, broken, broken, broken, false},
    {RD_KAFKA_RESP_ERR__BAD_COMPRESSION, broken, broken, broken, false},
    {RD_KAFKA_RESP_ERR__DESTROY, unavailable, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR__FAIL, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__TRANSPORT, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE, unavailable, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR__RESOLVE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, rejected, rejected, rejected, true},
    {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__INVALID_ARG, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR__TIMED_OUT, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__QUEUE_FULL, throttled, throttled, unknown, false},
    {RD_KAFKA_RESP_ERR__ISR_INSUFF, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__SSL, rejected, rejected, unknown, false},
    {RD_KAFKA_RESP_ERR__WAIT_COORD, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__STATE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__AUTHENTICATION, rejected, rejected, unknown, false},
    {RD_KAFKA_RESP_ERR__NO_OFFSET, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__OUTDATED, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__PURGE_QUEUE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__FATAL, unavailable, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR__INCONSISTENT, unavailable, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE, unavailable, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__FENCED, conflict, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST, conflict, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__NOOP, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_UNKNOWN, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_INVALID_MSG, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, rejected, rejected, rejected, true},
    {RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, unknown, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, conflict, conflict, conflict, false},
    {RD_KAFKA_RESP_ERR_INVALID_GROUP_ID, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, conflict, conflict, conflict, false},
    {RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, conflict, conflict, conflict, false},
    {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, rejected, rejected, rejected, true},
    {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_POLICY_VIOLATION, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, unavailable, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, conflict, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, conflict, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING, conflict, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_TRANSACTION_COORDINATOR_FENCED, unavailable, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_SECURITY_DISABLED, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, unavailable, conflict, unknown, true},
    {RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, conflict, conflict, conflict, true},
    {RD_KAFKA_RESP_ERR_INVALID_RECORD, rejected, rejected, rejected, false},
    {RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, unavailable, conflict, unknown, false},
    {RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED, throttled, throttled, throttled, false},
    {RD_KAFKA_RESP_ERR_PRODUCER_FENCED, conflict, conflict, conflict, true},
};

class KafkaCodes : public ::testing::TestWithParam<CodeExpectation> {};

TEST_P(KafkaCodes, MeanWhatCanBeDoneAboutThem) {
    const auto& [code, not_stored, in_transaction, maybe_stored, ends] = GetParam();
    EXPECT_EQ(classify_kafka(code, Phase::connect), not_stored);
    EXPECT_EQ(classify_kafka(code, Phase::transaction), in_transaction);
    EXPECT_EQ(classify_kafka(code, Phase::commit), maybe_stored);
    EXPECT_EQ(ends_client(code), ends);
    const Rule* rule = find(kafka_rules(), kafka_code(code));
    ASSERT_NE(rule, nullptr);
    EXPECT_EQ(rule->name, ::rd_kafka_err2name(static_cast<rd_kafka_resp_err_t>(code)));
}

INSTANTIATE_TEST_SUITE_P(Each, KafkaCodes, ::testing::ValuesIn(code_expectations));

TEST(KafkaTable, HasNoRowThatIsNotExpectedAbove) { EXPECT_EQ(kafka_rules().size(), std::size(code_expectations)); }

TEST(KafkaTable, ACodeThatNobodyKnowsIsNotRetried) { EXPECT_EQ(classify_kafka(9'999, Phase::commit), rejected); }

TEST(KafkaTable, WhatMayBeInTheLogIsNeverSaidToBeAway) {
    for (const Rule& rule : kafka_rules()) EXPECT_NE(rule.commit, unavailable) << rule.name;
}

TEST(KafkaTable, OnlyARefusalIsSharedByABatch) {
    EXPECT_TRUE(blames_one_of_the_batch(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE));
    EXPECT_TRUE(blames_one_of_the_batch(RD_KAFKA_RESP_ERR_INVALID_RECORD));
    EXPECT_FALSE(blames_one_of_the_batch(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED));
    for (const Rule& rule : kafka_rules()) {
        const bool shared = blames_one_of_the_batch(std::stoi(std::string(rule.code)));
        EXPECT_TRUE(!shared || rule.commit == rejected) << rule.name;
    }
}

TEST(KafkaError, SaysWhichCodeItWasAndKeepsTheirWordsToItself) {
    const Error error = kafka_error(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, Phase::commit, "not acknowledged", "key=secret");
    EXPECT_EQ(error.fault, unknown);
    EXPECT_EQ(error.message, "not acknowledged");
    EXPECT_EQ(error.native, "key=secret");
    EXPECT_EQ(error.cause.code, "_MSG_TIMED_OUT");
    EXPECT_EQ(error.cause.timeout, Timeout::request);
}

}  // namespace
}  // namespace semel::kafka
