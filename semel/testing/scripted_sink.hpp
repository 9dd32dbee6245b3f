#pragma once

#include "semel/sink/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace semel::testing {

/// A broker in memory that answers as it is told and remembers what it took, in order. Keeps to the contract of Sink:
/// behind a message that was not acknowledged nothing of its aggregate is taken. Thread-safe.
class ScriptedSink final : public Sink {
public:
    enum class Answer : std::uint8_t {
        take,         ///< Took it and said so.
        duplicate,    ///< Took it twice and said so once, as brokers do that retry by themselves.
        lose_answer,  ///< Took it, and the answer got lost: `unknown`.
        lose,         ///< It got lost on the way, and nobody knows: `unknown`.
        refuse,       ///< `rejected`.
        away,         ///< `unavailable`.
        throttle,     ///< `throttled`, with a retry_after of one second.
    };
    /// How each message is answered.
    using Script = std::function<Answer(const Message&)>;

    ScriptedSink() = default;
    explicit ScriptedSink(Script script) : script_(std::move(script)) {}

    /// From now on. Called with no lock held.
    void play(Script script);
    /// Called at each publish before anything is taken, with no lock held: to block, to look, to change the world.
    void before_publish(std::function<void(std::span<const Message>)> hook);

    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;

    /// Everything that was taken, repeats included, in order.
    [[nodiscard]] std::vector<Message> taken() const;
    /// The first time each id was taken, in order.
    [[nodiscard]] std::vector<Message> first_taken() const;
    [[nodiscard]] std::size_t publishes() const;

private:
    mutable std::mutex mutex_;
    Script script_;
    std::function<void(std::span<const Message>)> hook_;
    std::vector<Message> taken_;
    std::size_t publishes_ = 0;
};

}  // namespace semel::testing
