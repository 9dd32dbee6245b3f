#pragma once

#include "semel/kafka/connection.hpp"
#include "semel/kafka/decode.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace semel::kafka::detail {

/// A partition by topic and number.
using Partition = std::pair<std::string, std::int32_t>;

/// One consumer of librdkafka's in a group. Partitions are handed out eagerly: librdkafka 2.0, when it hands them out
/// cooperatively, does not tell the group that it leaves, and everyone waits for its session to end. One thread at a time,
/// except for `wake`.
class GroupMember {
public:
    struct Options {
        Connection connection{};
        std::vector<std::string> topics{};
        std::string group{};
        Duration patience{};
        std::optional<Duration> commit_interval{};  ///< None: positions are committed by someone else.
    };
    /// Called inside of `poll` and the destructor.
    struct Events {
        std::function<void(const std::vector<Partition>&)> assigned;
        std::function<void(const std::vector<Partition>&)> revoked;
    };

    [[nodiscard]] static Result<std::unique_ptr<GroupMember>> join(const Options& options, Events events);
    /// Leaves the group, with a limit.
    ~GroupMember();
    GroupMember(const GroupMember&) = delete;
    GroupMember& operator=(const GroupMember&) = delete;

    /// The next message; null if none came in that time, or someone woke it. An Error: what the broker, or the client,
    /// has to say instead.
    [[nodiscard]] Result<MessageHandle> poll(Duration limit);
    /// Ends a `poll`, or the next one. From any thread.
    void wake() noexcept;

    /// The end of the partition's log, as far as is known without asking.
    [[nodiscard]] std::int64_t end_of(const Partition& partition) const;
    /// Reads on from there.
    [[nodiscard]] Status seek(const Partition& partition, std::int64_t offset);
    void pause(const std::vector<Partition>& partitions);
    void resume(const std::vector<Partition>& partitions);
    /// To be committed soon: everything before it is done with.
    [[nodiscard]] Status store(const std::vector<std::pair<Partition, std::int64_t>>& positions);

    /// Who it is, and in which generation of the group, for a transaction that commits positions. Null: the group went on
    /// without it, and it has not joined again. Said to a broker, that would count as a stranger who is in no group, whose
    /// positions are taken unchecked.
    [[nodiscard]] GroupMetadataHandle membership() const;

    /// Of no more use: it must be replaced.
    [[nodiscard]] bool stopped() const noexcept;
    [[nodiscard]] rd_kafka_s* client() const noexcept { return client_.get(); }

    // For its callbacks.
    void rebalanced(int code, rd_kafka_topic_partition_list_s* partitions);
    void complained(int code, std::string_view what);

private:
    GroupMember() = default;
    void leave();

    Events events_;
    ClientHandle client_;
    QueueHandle queue_;  ///< Before the client in time, and gone before it.
    std::optional<Error> complaint_;
};

/// The parts of a message, borrowed from it.
[[nodiscard]] RawMessage raw_message(const rd_kafka_message_s& message);

}  // namespace semel::kafka::detail
