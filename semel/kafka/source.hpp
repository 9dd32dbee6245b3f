#pragma once

#include "semel/base/time.hpp"
#include "semel/kafka/connection.hpp"
#include "semel/source/source.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace semel::kafka {

struct KafkaSourceOptions {
    Connection connection{};
    std::vector<std::string> topics{};
    /// Sources of one group share the partitions: the same in all processes of a consumer.
    std::string group{};
    /// How long the group waits for a source that says nothing, before its partitions go to others. The client says
    /// something by itself; `receive` must be called at least every five minutes.
    Duration patience = std::chrono::seconds(45);
    /// How often positions are committed. After a crash what was done in that time comes again, and the inbox knows it.
    Duration commit_interval = std::chrono::milliseconds(200);
    /// How many messages of a partition a consumer of this group may have held when it went away: its `held_max`. So many
    /// after each assignment are marked as redelivered, if they were there by then: Kafka does not say who has seen what.
    std::size_t begun_max = 256;
};

/// Messages of Kafka's topics, by a consumer group. Reads only what was committed (isolation.level=read_committed), from the
/// beginning where the group has no position yet. A position moves over messages that are done with and have nothing open
/// before them, and is committed after that. When partitions are handed out anew, what was delivered of them and is not done
/// with goes to whoever has them then; acknowledging it here has no effect any more. One thread at a time, except for
/// `wake`.
class KafkaSource final : public Source {
public:
    /// An Error (`rejected`) says what is wrong with the options. Talks to nobody yet.
    [[nodiscard]] static Result<std::unique_ptr<KafkaSource>> open(KafkaSourceOptions options,
                                                                   Clock& clock = system_clock());
    /// Commits what is done with and leaves the group; gives up after five seconds.
    ~KafkaSource() override;
    KafkaSource(const KafkaSource&) = delete;
    KafkaSource& operator=(const KafkaSource&) = delete;

    [[nodiscard]] Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override;
    [[nodiscard]] Status acknowledge(std::span<const DeliveryTag> tags) override;
    [[nodiscard]] Status give_back(std::span<const DeliveryTag> tags) override;
    void pause() override;
    void resume() override;
    void wake() override;

private:
    struct State;
    explicit KafkaSource(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::kafka
