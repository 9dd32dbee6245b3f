#include "semel/testing/scripted_sink.hpp"

#include <set>
#include <tuple>

namespace semel::testing {
namespace {

Status answered(Fault fault, std::string message) { return fail(fault, std::move(message)); }

Status status_of(ScriptedSink::Answer answer) {
    using enum ScriptedSink::Answer;
    switch (answer) {
        case take:
        case duplicate: return {};
        case lose_answer:
        case lose: return answered(Fault::unknown, "the broker did not answer");
        case refuse: return answered(Fault::rejected, "the broker refuses this message");
        case away: return answered(Fault::unavailable, "the broker is away");
        case throttle: break;
    }
    Error error;
    error.fault = Fault::throttled;
    error.message = "the broker asks for less";
    error.cause.retry_after = std::chrono::seconds(1);
    return fail(std::move(error));
}

}  // namespace

void ScriptedSink::play(Script script) {
    const std::lock_guard guard(mutex_);
    script_ = std::move(script);
}

void ScriptedSink::before_publish(std::function<void(std::span<const Message>)> hook) {
    const std::lock_guard guard(mutex_);
    hook_ = std::move(hook);
}

std::vector<Status> ScriptedSink::publish(std::span<const Message> messages, Deadline) {
    Script script;
    std::function<void(std::span<const Message>)> hook;
    {
        const std::lock_guard guard(mutex_);
        ++publishes_;
        script = script_;
        hook = hook_;
    }
    if (hook) hook(messages);
    std::vector<Status> answers;
    answers.reserve(messages.size());
    std::set<std::tuple<std::string, std::string, std::string>> stopped;
    for (const Message& message : messages) {
        const std::tuple aggregate(message.tenant, message.aggregate.type, message.aggregate.id);
        if (stopped.contains(aggregate)) {
            answers.emplace_back(fail(behind_unacknowledged()));
            continue;
        }
        const Answer answer = script ? script(message) : Answer::take;
        answers.push_back(status_of(answer));
        if (!answers.back()) stopped.insert(aggregate);
        const bool took = answer == Answer::take || answer == Answer::duplicate || answer == Answer::lose_answer;
        const std::lock_guard guard(mutex_);
        if (took) taken_.push_back(message);
        if (answer == Answer::duplicate) taken_.push_back(message);
    }
    return answers;
}

std::vector<Message> ScriptedSink::taken() const {
    const std::lock_guard guard(mutex_);
    return taken_;
}

std::vector<Message> ScriptedSink::first_taken() const {
    std::set<Uuid> seen;
    std::vector<Message> first;
    for (std::vector<Message> all = taken(); Message & message : all)
        if (seen.insert(message.id).second) first.push_back(std::move(message));
    return first;
}

std::size_t ScriptedSink::publishes() const {
    const std::lock_guard guard(mutex_);
    return publishes_;
}

}  // namespace semel::testing
