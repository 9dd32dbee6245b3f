#include "semel/kafka/sink.hpp"

#include "semel/base/assert.hpp"
#include "semel/kafka/classify.hpp"
#include "semel/kafka/plan.hpp"
#include "semel/kafka/producer.hpp"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <set>

namespace semel::kafka {
namespace {

/// Kept free at the end of a publish, to take back what was not answered.
constexpr Duration clearing_time = std::chrono::milliseconds(50);
/// One wait for reports, so that a client that is spent is noticed.
constexpr Duration look_every = std::chrono::milliseconds(100);
/// librdkafka counts limits in milliseconds; below this nothing could be delivered.
constexpr Duration deadline_min = std::chrono::milliseconds(100);
constexpr std::size_t in_flight_max = 100'000;
/// Topics that are remembered; one that is forgotten costs a round.
constexpr std::size_t met_max = 10'000;

Error no_time_left(const std::string& complaint) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "kafka: not sent: the time for this batch is over";
    error.native = complaint;
    return error;
}

Error producer_stopped(const std::string& complaint) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "kafka: not sent: the producer has stopped, and another takes its place";
    error.native = complaint;
    return error;
}

/// What a relay can conclude. A publish rolls nothing back, so there is no conflict to run again.
Error failure_of(const detail::Report& report, const std::string& complaint) {
    const Phase phase = report.maybe_stored ? Phase::commit : Phase::connect;
    Error error = kafka_error(report.code, phase, "kafka: the event was not acknowledged");
    if (!complaint.empty()) error.native += "; before: " + complaint;
    if (error.fault == Fault::conflict) error.fault = report.maybe_stored ? Fault::unknown : Fault::unavailable;
    return error;
}

}  // namespace

struct KafkaSink::State {
    [[nodiscard]] Status ensure_producer();
    /// Hands over what goes with the next round. An Error: nothing more can be, until there is another producer.
    [[nodiscard]] Status send_round(PublishPlan& plan, std::span<const Message> messages);
    /// Whether a message may go in one round with the one before it in its aggregate: they must become one batch.
    [[nodiscard]] bool may_follow(const Message& before, const Record& record) const;
    void collect(PublishPlan& plan, std::span<const Message> messages);

    KafkaSinkOptions options;
    Clock* clock;
    std::unique_ptr<detail::Producer> producer;
    std::set<std::string, std::less<>> met{};  ///< Topics of which this producer has had an acknowledgement.
};

Status KafkaSink::State::ensure_producer() {
    if (producer && !producer->spent()) return {};
    producer.reset();
    met.clear();
    producer = SEMEL_TRY(detail::Producer::create(
        options.connection,
        {.message = options.deadline, .topic = options.topic_limit, .leaving = detail::Leaving::together}));
    return {};
}

bool KafkaSink::State::may_follow(const Message& before, const Record& record) const {
    // Events of one aggregate may go to different topics, by their types. And what waits for a topic to become known is dealt
    // out to its partitions one by one, while the first of it leaves already.
    const auto topic = topic_of(before, options.topic);
    return topic && *topic == record.topic && met.contains(record.topic);
}

Status KafkaSink::State::send_round(PublishPlan& plan, std::span<const Message> messages) {
    const std::size_t bytes_max = producer->batch_max();
    std::size_t bytes = 0;
    plan.begin_round();
    while (const auto number = plan.next()) {
        const auto record = record_of(messages[*number], options.event, options.mode, options.topic);
        if (!record) {
            plan.answered(*number, fail(record.error()));
            continue;
        }
        if (const auto before = plan.ahead_of(*number); before && !may_follow(messages[*before], *record)) {
            plan.hold(*number);
            continue;
        }
        // All of the round might be for one partition, and what is too much for a batch would be divided.
        const std::size_t size = detail::batch_bytes(*record);
        if (bytes > 0 && bytes + size > bytes_max) return {};
        const int code = producer->send(*record, *number);
        if (code == 0) {
            plan.begun(*number);
            bytes += size;
            continue;
        }
        Error error = failure_of({.message = *number, .code = code}, producer->complaint());
        plan.answered(*number, fail(error));
        // A topic that is believed not to exist is asked for again by a new client only.
        if (ends_client(code)) producer->spend();
        if (error.fault != Fault::rejected) return fail(std::move(error));
    }
    return {};
}

void KafkaSink::State::collect(PublishPlan& plan, std::span<const Message> messages) {
    for (const detail::Report& report : producer->take_reports()) {
        if (report.code == 0) {
            plan.answered(report.message, {});
            if (met.size() >= met_max) met.clear();
            if (auto topic = topic_of(messages[report.message], options.topic)) met.insert(*std::move(topic));
        } else if (blames_one_of_the_batch(report.code)) {
            plan.refused(report.message, failure_of(report, {}));
        } else {
            plan.answered(report.message, fail(failure_of(report, producer->complaint())));
        }
    }
}

KafkaSink::KafkaSink(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
KafkaSink::~KafkaSink() = default;

Result<std::unique_ptr<KafkaSink>> KafkaSink::open(KafkaSinkOptions options, Clock& clock) {
    if (options.connection.brokers.empty()) return fail(Fault::rejected, "kafka: no broker is named");
    SEMEL_TRY(check_topic(options.topic));
    if (options.event.source.empty())
        return fail(Fault::rejected, "kafka: a CloudEvent says who tells it: the source must not be empty");
    if (options.max_in_flight == 0 || options.max_in_flight > in_flight_max)
        return fail(Fault::rejected, "kafka: max_in_flight is 1 to " + std::to_string(in_flight_max));
    if (options.deadline < deadline_min || options.topic_limit < Duration::zero())
        return fail(Fault::rejected, "kafka: the deadline of a sink is 100 ms or more, and no limit is negative");
    auto state = std::make_unique<State>(State{.options = std::move(options), .clock = &clock, .producer = nullptr});
    SEMEL_TRY(state->ensure_producer());
    return std::unique_ptr<KafkaSink>(new KafkaSink(std::move(state)));
}

std::vector<Status> KafkaSink::publish(std::span<const Message> messages, Deadline deadline) {
    State& state = *state_;
    if (messages.empty()) return {};
    PublishPlan plan(messages, state.options.max_in_flight);
    const Instant begun = state.clock->now();
    const Duration given = std::min(deadline.remaining(begun), state.options.deadline);
    const Instant until = begun + given - std::min(clearing_time, given / 10);
    if (const Status ready = state.ensure_producer(); !ready) {
        plan.close(ready.error());
        return std::move(plan).take();
    }
    while (!plan.finished()) {
        const Instant now = state.clock->now();
        if (now >= until) plan.close(no_time_left(state.producer->complaint()));
        if (plan.under_way() == 0) {
            if (const Status sent = state.send_round(plan, messages); !sent) plan.close(sent.error());
        }
        if (state.producer->stopped()) plan.close(producer_stopped(state.producer->complaint()));
        if (plan.under_way() == 0) continue;
        if (now >= until || state.producer->stopped())
            state.producer->give_up();
        else
            state.producer->wait(std::min(look_every, until - now));
        state.collect(plan, messages);
    }
    return std::move(plan).take();
}

}  // namespace semel::kafka
