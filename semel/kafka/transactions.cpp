#include "semel/kafka/transactions.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/kafka/classify.hpp"
#include "semel/kafka/group_member.hpp"
#include "semel/kafka/producer.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace semel::kafka {
namespace {

using detail::GroupMember;
using detail::Partition;

/// The broker gives up a transaction so long after we have.
constexpr Duration broker_patience = std::chrono::seconds(5);
constexpr Duration topic_limit = std::chrono::seconds(2);
constexpr Duration transaction_deadline_min = std::chrono::seconds(1);
/// One wait for room in the client's queue.
constexpr Duration room_wait = std::chrono::milliseconds(10);

Error transaction_failed(const rd_kafka_error_t& failed, Phase phase, std::string message) {
    Error error =
        kafka_error(::rd_kafka_error_code(&failed), phase, std::move(message), ::rd_kafka_error_string(&failed));
    // Whatever the code: a transaction that can only be aborted, and was not to be committed yet, has done nothing.
    if (phase != Phase::commit && ::rd_kafka_error_txn_requires_abort(&failed) != 0) error.fault = Fault::conflict;
    return error;
}

Error left_behind() {
    return kafka_error(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, Phase::transaction, "kafka: the positions were not sent");
}

}  // namespace

struct KafkaTransactions::State {
    [[nodiscard]] Status ensure_clients(Instant until);
    [[nodiscard]] Result<std::vector<MessageHandle>> gather(Deadline deadline);
    [[nodiscard]] Status move(const std::vector<MessageHandle>& batch, Instant until);
    [[nodiscard]] Status write(const rd_kafka_message_s& message, Instant until);
    [[nodiscard]] Status send_positions(const std::vector<MessageHandle>& batch, Instant until);
    [[nodiscard]] Status commit(Instant until);
    /// Whether the broker has undone it.
    [[nodiscard]] bool abort(Instant until);
    /// Starts again from what is committed.
    void drop_clients();
    [[nodiscard]] int left(Instant until) const { return detail::milliseconds(until - clock->now()); }

    KafkaTransactionsOptions options;
    KafkaTransform transform;
    Clock* clock = nullptr;
    bool revoked = false;
    std::atomic<bool> woken = false;
    std::unique_ptr<detail::Producer> producer{};
    std::mutex member_mutex{};  ///< A wake may come from any thread at any time.
    std::unique_ptr<GroupMember> member{};
};

Status KafkaTransactions::State::ensure_clients(Instant until) {
    if (producer && producer->spent()) drop_clients();
    if (!producer) {
        const Duration timeout = options.deadline + broker_patience;
        auto made = SEMEL_TRY(
            detail::Producer::create(options.connection, {.message = options.deadline, .topic = topic_limit},
                                     {{"transactional.id", options.id},
                                      {"transaction.timeout.ms", std::to_string(detail::milliseconds(timeout))}}));
        // Settles what a process of the same id left open, and shuts it out. Before positions are read.
        if (const ErrorHandle failed(::rd_kafka_init_transactions(made->client(), left(until))); failed)
            return fail(transaction_failed(*failed, Phase::connect, "kafka: no transactions can be begun"));
        producer = std::move(made);
    }
    if (member && !member->stopped()) return {};
    auto joined = SEMEL_TRY(GroupMember::join({.connection = options.connection,
                                               .topics = options.topics,
                                               .group = options.group,
                                               .patience = options.patience,
                                               .commit_interval = std::nullopt},
                                              {.assigned = [](const std::vector<Partition>&) {},
                                               .revoked = [this](const std::vector<Partition>&) { revoked = true; }}));
    const std::lock_guard guard(member_mutex);
    member = std::move(joined);
    return {};
}

void KafkaTransactions::State::drop_clients() {
    std::unique_ptr<GroupMember> before;
    {
        const std::lock_guard guard(member_mutex);
        before.swap(member);
    }
    before.reset();
    producer.reset();
}

Result<std::vector<MessageHandle>> KafkaTransactions::State::gather(Deadline deadline) {
    std::vector<MessageHandle> batch;
    bool looked = false;
    while (batch.size() < options.batch && !woken.load()) {
        const Duration waiting = deadline.remaining(clock->now());
        if (looked && batch.empty() && waiting == Duration::zero()) break;
        looked = true;
        revoked = false;
        auto message = member->poll(batch.empty() ? waiting : Duration::zero());
        // Handed out eagerly, partitions are taken all at once; whoever has them now begins where the last commit ended.
        if (revoked) batch.clear();
        if (!message) {
            if (batch.empty()) return fail(message.error());
            break;
        }
        if (*message)
            batch.push_back(*std::move(message));
        else if (!batch.empty())
            break;
    }
    woken = false;
    return batch;
}

Status KafkaTransactions::State::write(const rd_kafka_message_s& message, Instant until) {
    for (const Record& record : SEMEL_TRY(transform(received_from(detail::raw_message(message))))) {
        int code = producer->send(record, 0);
        while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL && clock->now() < until) {
            producer->wait(room_wait);
            code = producer->send(record, 0);
        }
        if (code != 0) return fail(kafka_error(code, Phase::transaction, "kafka: a record was not taken"));
    }
    return {};
}

Status KafkaTransactions::State::send_positions(const std::vector<MessageHandle>& batch, Instant until) {
    std::map<Partition, std::int64_t> positions;
    for (const MessageHandle& one : batch)
        positions[{::rd_kafka_topic_name(one->rkt), one->partition}] = one->offset + 1;
    const PartitionsHandle list(::rd_kafka_topic_partition_list_new(static_cast<int>(positions.size())));
    for (const auto& [partition, position] : positions)
        ::rd_kafka_topic_partition_list_add(list.get(), partition.first.c_str(), partition.second)->offset = position;
    // Says which generation of the group we belong to: one that has lost its partitions is refused.
    const GroupMetadataHandle group = member->membership();
    if (!group) return fail(left_behind());
    const ErrorHandle failed(
        ::rd_kafka_send_offsets_to_transaction(producer->client(), list.get(), group.get(), left(until)));
    if (failed) return fail(transaction_failed(*failed, Phase::transaction, "kafka: the positions were not taken"));
    return {};
}

Status KafkaTransactions::State::commit(Instant until) {
    for (;;) {
        const ErrorHandle failed(::rd_kafka_commit_transaction(producer->client(), left(until)));
        if (!failed) return {};
        if (::rd_kafka_error_is_retriable(failed.get()) != 0 && clock->now() < until) continue;
        Error error = transaction_failed(*failed, Phase::commit, "kafka: the transaction was not committed");
        // The commit may have arrived and only its answer failed. What could be aborted was not committed.
        if (::rd_kafka_error_txn_requires_abort(failed.get()) != 0 && abort(until)) error.fault = Fault::conflict;
        return fail(std::move(error));
    }
}

bool KafkaTransactions::State::abort(Instant until) {
    return ErrorHandle(::rd_kafka_abort_transaction(producer->client(), left(until))) == nullptr;
}

Status KafkaTransactions::State::move(const std::vector<MessageHandle>& batch, Instant until) {
    if (const ErrorHandle failed(::rd_kafka_begin_transaction(producer->client())); failed)
        return fail(transaction_failed(*failed, Phase::connect, "kafka: the transaction was not begun"));
    for (const MessageHandle& one : batch) SEMEL_TRY(write(*one, until));
    SEMEL_FAILPOINT("kafka.transaction_written");
    SEMEL_TRY(send_positions(batch, until));
    SEMEL_FAILPOINT("kafka.before_transaction_commit");
    SEMEL_TRY(commit(until));
    SEMEL_FAILPOINT("kafka.after_transaction_commit");
    std::ignore = producer->take_reports();  // The commit has answered for all of them.
    return {};
}

KafkaTransactions::KafkaTransactions(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
KafkaTransactions::~KafkaTransactions() { state_->drop_clients(); }

Result<std::unique_ptr<KafkaTransactions>> KafkaTransactions::open(KafkaTransactionsOptions options,
                                                                   KafkaTransform transform, Clock& clock) {
    if (options.connection.brokers.empty()) return fail(Fault::rejected, "kafka: no broker is named");
    if (options.topics.empty()) return fail(Fault::rejected, "kafka: no topic is named");
    for (const std::string& topic : options.topics) SEMEL_TRY(check_topic(topic));
    if (options.group.empty() || options.id.empty())
        return fail(Fault::rejected, "kafka: transactions need a group and an id");
    if (options.batch == 0 || options.deadline < transaction_deadline_min)
        return fail(Fault::rejected, "kafka: a transaction has a message or more, and a second or more");
    if (!transform) return fail(Fault::rejected, "kafka: there is no transform");
    auto state = std::make_unique<State>();
    state->options = std::move(options);
    state->transform = std::move(transform);
    state->clock = &clock;
    return std::unique_ptr<KafkaTransactions>(new KafkaTransactions(std::move(state)));
}

Result<std::size_t> KafkaTransactions::step(Deadline deadline) {
    State& state = *state_;
    SEMEL_TRY(state.ensure_clients(state.clock->now() + state.options.deadline));
    std::vector<MessageHandle> batch = SEMEL_TRY(state.gather(deadline));
    if (batch.empty()) return 0U;
    const Instant until = state.clock->now() + state.options.deadline;
    const Status moved = state.move(batch, until);
    if (moved) return batch.size();
    // If this does not reach the broker, the next client of the same id does it, or the broker by itself.
    std::ignore = state.abort(until);
    batch.clear();  // A client waits for its messages before it ends.
    state.drop_clients();
    return fail(moved.error());
}

void KafkaTransactions::wake() {
    state_->woken = true;
    const std::lock_guard guard(state_->member_mutex);
    if (state_->member) state_->member->wake();
}

}  // namespace semel::kafka
