#include "semel/sink/checked_sink.hpp"

#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace semel {
namespace {

/// Aggregates of one batch, whose messages outlive it.
class AggregateSet {
public:
    /// False: it was there before.
    bool insert(const Message& of) { return names_.insert(name_of(of)).second; }
    [[nodiscard]] bool contains(const Message& of) const { return !names_.empty() && names_.contains(name_of(of)); }

private:
    using Name = std::tuple<std::string_view, std::string_view, std::string_view>;
    static Name name_of(const Message& one) { return {one.tenant, one.aggregate.type, one.aggregate.id}; }
    std::set<Name> names_;
};

}  // namespace

std::vector<Status> CheckedSink::publish(std::span<const Message> messages, Deadline deadline) {
    std::vector<Status> answers(messages.size());
    std::vector<std::size_t> passed;
    passed.reserve(messages.size());
    AggregateSet refused;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (refused.contains(messages[i])) {
            answers[i] = fail(behind_unacknowledged());
        } else if (Status checked = check_(messages[i]); !checked) {
            answers[i] = fail(final_refusal(std::move(checked).error()));
            refused.insert(messages[i]);
        } else {
            passed.push_back(i);
        }
    }
    if (passed.size() == messages.size()) return sink_->publish(messages, deadline);
    auto sent = publish_some(messages, passed, deadline);
    for (std::size_t i = 0; i < sent.size(); ++i) answers[passed[i]] = std::move(sent[i]);
    // What was refused here may stand behind one that was not acknowledged there: then that one is the reason.
    AggregateSet unacknowledged;
    for (std::size_t i = 0; i < messages.size(); ++i)
        if (!answers[i] && !unacknowledged.insert(messages[i])) answers[i] = fail(behind_unacknowledged());
    return answers;
}

std::vector<Status> CheckedSink::publish_some(std::span<const Message> messages, std::span<const std::size_t> passed,
                                              Deadline deadline) {
    if (passed.empty()) return {};
    std::vector<Message> some;
    some.reserve(passed.size());
    for (const std::size_t i : passed) some.push_back(messages[i]);
    auto answers = sink_->publish(some, deadline);
    // No answer is not an acknowledgement.
    answers.resize(some.size(), fail(Fault::unknown, "the sink gave no answer"));
    return answers;
}

}  // namespace semel
