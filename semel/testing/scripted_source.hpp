#pragma once

#include "semel/base/random.hpp"
#include "semel/source/source.hpp"

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace semel::testing {

/// A broker in memory that delivers at least once, and no better than that if told so. What is not acknowledged comes again
/// after `disconnect`, as after the death of a consumer. Thread-safe.
class ScriptedSource final : public Source {
public:
    /// What goes wrong, in percent.
    struct Mischief {
        unsigned duplicate = 0;               ///< Delivers it twice, under two tags, as if it had been sent twice.
        unsigned lose_acknowledgement = 0;    ///< Says that it heard, and did not: it comes again after `disconnect`.
        unsigned refuse_acknowledgement = 0;  ///< Did not hear, and says so.
        bool shuffle = false;                 ///< Takes the keys in any order; each key keeps its own.
    };

    explicit ScriptedSource(Clock& clock = system_clock(), std::uint64_t seed = 1) : clock_(&clock), random_(seed) {}

    void play(const Mischief& mischief);
    /// Each `receive` fails, until it is told otherwise.
    void be_away(bool away);
    void send(ReceivedMessage message);
    /// Everything that was delivered and not acknowledged comes again, in its place and marked as redelivered. Tags from
    /// before mean nothing any more.
    void disconnect();

    [[nodiscard]] Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override;
    [[nodiscard]] Status acknowledge(std::span<const DeliveryTag> tags) override;
    [[nodiscard]] Status give_back(std::span<const DeliveryTag> tags) override;
    void pause() override;
    void resume() override;
    void wake() override;

    [[nodiscard]] std::size_t waiting() const;         ///< Not delivered.
    [[nodiscard]] std::size_t unacknowledged() const;  ///< Delivered, and not acknowledged.
    [[nodiscard]] bool empty() const { return waiting() + unacknowledged() == 0; }
    [[nodiscard]] bool paused() const;
    [[nodiscard]] std::uint64_t delivered() const;  ///< Repeats included.

private:
    struct Entry {
        ReceivedMessage message;
        std::uint64_t place = 0;
        bool redelivered = false;
    };

    // All with the mutex held.
    [[nodiscard]] bool chance(unsigned percent) { return random_.below(100) < percent; }
    void put_back(Entry entry);
    [[nodiscard]] std::list<Entry>::iterator pick();
    void take(std::vector<Delivery>& deliveries);

    Clock* clock_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    SeededRandom random_;
    Mischief mischief_;
    std::list<Entry> queue_;  ///< By place.
    std::map<DeliveryTag, Entry> delivered_;
    std::vector<Entry> unheard_;  ///< Acknowledged, and the acknowledgement got lost.
    DeliveryTag tags_ = 0;
    std::uint64_t places_ = 0;
    bool paused_ = false;
    bool woken_ = false;
    bool away_ = false;
};

}  // namespace semel::testing
