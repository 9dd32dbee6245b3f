#pragma once

#include "semel/sink/sink.hpp"
#include "semel/source/source.hpp"
#include "tests/simulation/process.hpp"

#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace semel::simulation {

/// A broker that keeps what it takes and delivers it to every group of consumers, at least once: it refuses, takes
/// twice, loses answers, mixes up keys, and hears of acknowledgements or not. Messages of one key keep their order.
class Broker {
public:
    explicit Broker(World& world) : world_(&world) {}

    [[nodiscard]] std::vector<Status> take(Process& process, std::span<const Message> messages, Deadline deadline);
    [[nodiscard]] bool has(std::string_view event_id) const { return taken_.contains(event_id); }

    /// Whether someone was told that it was taken.
    [[nodiscard]] bool acknowledged(std::string_view event_id) const { return acknowledged_.contains(event_id); }

    /// A new connection of a group's member.
    [[nodiscard]] std::uint64_t connect() noexcept { return ++connections_; }
    /// What was delivered on it comes again.
    void disconnect(std::string_view group, std::uint64_t connection);
    [[nodiscard]] std::vector<Delivery> deliver(Process& process, std::string_view group, std::uint64_t connection,
                                                std::size_t limit);
    [[nodiscard]] Status acknowledge(std::string_view group, std::span<const DeliveryTag> tags);
    void give_back(std::string_view group, std::span<const DeliveryTag> tags);

    /// What has not been acknowledged; empty if nothing.
    [[nodiscard]] std::string unfinished() const;

private:
    struct Entry {
        ReceivedMessage message;
        std::uint64_t connection = 0;  ///< Zero: waits.
        DeliveryTag tag = 0;
        bool redelivered = false;
        bool unheard = false;  ///< Acknowledged, and the broker did not hear of it.
        Instant delivered{};
    };

    [[nodiscard]] Status take_one(Process& process, const Message& message);
    void keep(const Message& message);

    World* world_;
    std::set<std::string, std::less<>> taken_;
    std::set<std::string, std::less<>> acknowledged_;
    std::map<std::string, Instant> refused_until_;  ///< Messages that are refused for now; zero: not one of them.
    std::map<std::string, std::list<Entry>, std::less<>> queues_;
    std::uint64_t connections_ = 0;
    DeliveryTag tags_ = 0;
};

/// The broker as a relay's process reaches it.
class BrokerSink final : public Sink {
public:
    explicit BrokerSink(Process& process) : process_(&process) {}
    std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;

private:
    Process* process_;
};

/// The broker as a consumer's process reaches it.
class BrokerSource final : public Source {
public:
    BrokerSource(Process& process, std::string group);
    ~BrokerSource() override;
    Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override;
    Status acknowledge(std::span<const DeliveryTag> tags) override;
    Status give_back(std::span<const DeliveryTag> tags) override;
    void pause() override { paused_ = true; }
    void resume() override { paused_ = false; }
    void wake() override {}

private:
    Process* process_;
    std::string group_;
    std::uint64_t connection_;
    bool paused_ = false;
};

}  // namespace semel::simulation
