#include "semel/nats/sink.hpp"

#include "semel/nats/failure_table.hpp"
#include "semel/nats/link.hpp"
#include "semel/nats/server_info.hpp"
#include "semel/nats/stream.hpp"
#include "semel/nats/subject.hpp"
#include "semel/sink/lanes.hpp"

#include <nats/nats.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace semel::nats {
namespace {

Error sent_and_unanswered() {
    Error error;
    error.fault = Fault::unknown;
    error.message = "sent to NATS, and not acknowledged";
    return error;
}

Error not_begun(const Error& why) {
    Error error;
    error.fault = why.fault == Fault::unknown ? Fault::unavailable : why.fault;
    error.message = "not sent: " + why.message;
    error.native = why.native;
    error.cause = why.cause;
    return error;
}

Error no_time() {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "not sent: the time for this batch is over";
    return error;
}

/// What JetStream answered to a message: its stream has it, or why not. Whoever else listens to the subject may answer too,
/// and what that one says is worth nothing.
Status verdict(const NatsMessage& answer, const std::string& stream) {
    const std::string_view text(natsMsg_GetData(answer.get()),
                                static_cast<std::size_t>(natsMsg_GetDataLength(answer.get())));
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object()) return fail(Fault::unknown, "the answer of JetStream cannot be read");
    if (const auto error = document.find("error"); error != document.end() && error->is_object()) {
        const auto code = error->find("err_code");
        const auto words = error->find("description");
        return fail(
            error_from(code != error->end() && code->is_number_integer() ? code->get<int>() : 0,
                       words != error->end() && words->is_string() ? words->get<std::string>() : std::string()));
    }
    const auto name = document.find("stream");
    const auto sequence = document.find("seq");
    if (name != document.end() && *name == stream && sequence != document.end() && sequence->is_number_unsigned())
        return {};
    return fail(Fault::unknown, "somebody else than the stream " + stream + " answered: who listens to its subjects?");
}

}  // namespace

struct NatsSink::State {
    State(NatsSinkOptions given, SubjectTemplate with, Clock& time)
        : options(std::move(given)), subject(std::move(with)), clock(&time) {}

    [[nodiscard]] Status connect(Deadline deadline);
    [[nodiscard]] Status send(const Message& message, std::uint64_t number);
    void send_some(Lanes& lanes, std::span<const Message> messages, Deadline deadline);
    void collect(Lanes& lanes, std::span<const Message> messages, Deadline deadline);
    /// Nobody listens to the subject: for good, or for now?
    [[nodiscard]] Status nobody_listens(const Message& message, Deadline deadline);
    /// What is under way stays unanswered.
    void give_up(Lanes& lanes, const Error& rest);

    NatsSinkOptions options;
    SubjectTemplate subject;
    Clock* clock;
    std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
    std::unique_ptr<Link> link;
    std::unordered_map<std::uint64_t, std::size_t> under_way;  ///< Requests by number: places in the batch.
    std::uint64_t requests = 0;
    std::vector<std::string> warnings;
};

Status NatsSink::State::connect(Deadline deadline) {
    if (link && !link->closed()) return {};
    link.reset();
    link = SEMEL_TRY(Link::open(options.connection, mailbox, *clock, deadline));
    return {};
}

Status NatsSink::State::send(const Message& message, std::uint64_t number) {
    const std::string to = SEMEL_TRY(subject.subject_of(message));
    // The stream is named so that no other can take the event by accident.
    std::vector<CloudEventAttribute> headers{{"Nats-Msg-Id", message.id.text()},
                                             {"Nats-Expected-Stream", options.stream}};
    if (options.mode == Mode::structured) {
        const std::string document = SEMEL_TRY(structured_cloud_event(message, options.event));
        headers.push_back({"content-type", "application/cloudevents+json"});
        return link->publish(to, number, headers, document);
    }
    BinaryCloudEvent event = SEMEL_TRY(binary_cloud_event(message, options.event, "ce-", HeaderEncoding::utf8));
    std::ranges::move(event.headers, std::back_inserter(headers));
    return link->publish(to, number, headers, event.body);
}

void NatsSink::State::send_some(Lanes& lanes, std::span<const Message> messages, Deadline deadline) {
    if (deadline.passed(clock->now())) lanes.close(no_time());
    while (under_way.size() < options.max_in_flight) {
        const auto place = lanes.next();
        if (!place) return;
        const Status sent = send(messages[*place], ++requests);
        if (sent) {
            under_way.emplace(requests, *place);
            continue;
        }
        const bool refused = sent.error().fault == Fault::rejected;
        // The connection took it, or part of it, before it broke.
        lanes.answered(*place, refused ? sent : fail(sent_and_unanswered()));
        if (!refused) return give_up(lanes, not_begun(sent.error()));
    }
}

void NatsSink::State::collect(Lanes& lanes, std::span<const Message> messages, Deadline deadline) {
    Mailbox::Next next = mailbox->next(Mailbox::Kind::answer, *clock, deadline.at());
    if (!next.message) {
        Error why;
        why.fault = Fault::unavailable;
        why.message = next.closed ? "the connection to NATS broke" : "NATS did not answer in time";
        return give_up(lanes, not_begun(why));
    }
    const auto found = under_way.find(answered_request(next.message));
    if (found == under_way.end()) return;
    const std::size_t place = found->second;
    under_way.erase(found);
    const Status answer = natsMsg_IsNoResponders(next.message.get()) ? nobody_listens(messages[place], deadline)
                                                                     : verdict(next.message, options.stream);
    // Whoever is not there, or has no room, is not asked once more for each aggregate.
    if (!answer && answer.error().fault != Fault::rejected) lanes.close(not_begun(answer.error()));
    lanes.answered(place, answer);
}

Status NatsSink::State::nobody_listens(const Message& message, Deadline deadline) {
    // A stream that is choosing a leader does not listen either; one that answers and does not know the subject never will.
    const Duration limit = std::min(options.connection.connect_limit, deadline.remaining(clock->now()));
    const auto stream = find_stream(*link, options.stream, limit);
    const auto to = subject.subject_of(message);
    if (stream && to && !covers(stream->subjects, *to))
        return fail(Fault::rejected, "the stream " + options.stream + " does not take the subject of the event");
    return fail(Fault::unavailable, "no stream listens at the moment");
}

void NatsSink::State::give_up(Lanes& lanes, const Error& rest) {
    lanes.close(rest);
    for (const auto& [number, place] : under_way) lanes.answered(place, fail(sent_and_unanswered()));
    under_way.clear();
    link.reset();
}

NatsSink::NatsSink(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
NatsSink::~NatsSink() = default;

Result<std::unique_ptr<NatsSink>> NatsSink::open(NatsSinkOptions options, Clock& clock) {
    SEMEL_TRY(check(options));
    SubjectTemplate subject = SEMEL_TRY(SubjectTemplate::parse(options.subject, options.stream));
    auto state = std::make_unique<State>(std::move(options), std::move(subject), clock);
    const ConnectionOptions& connection = state->options.connection;
    SEMEL_TRY(state->connect(Deadline::after(clock.now(), state->options.deadline)));
    const StreamView stream = SEMEL_TRY(find_or_make_stream(*state->link, state->options.stream,
                                                            state->options.stream_options, connection.connect_limit));
    state->warnings = durability_warnings(server_version(connection.servers.front(), connection.connect_limit),
                                          stream.in_memory, stream.replicas);
    return std::unique_ptr<NatsSink>(new NatsSink(std::move(state)));
}

std::vector<Status> NatsSink::publish(std::span<const Message> messages, Deadline deadline) {
    State& state = *state_;
    deadline = deadline.within(state.clock->now(), state.options.deadline);
    Lanes lanes(messages);
    if (const Status ready = state.connect(deadline); !ready) lanes.close(not_begun(ready.error()));
    while (true) {
        state.send_some(lanes, messages, deadline);
        if (lanes.finished()) break;
        state.collect(lanes, messages, deadline);
    }
    return std::move(lanes).take();
}

const std::vector<std::string>& NatsSink::warnings() const noexcept { return state_->warnings; }

}  // namespace semel::nats
