#pragma once

#include "semel/base/time.hpp"
#include "semel/rabbitmq/address.hpp"
#include "semel/source/source.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace semel::rabbitmq {

struct RabbitmqSourceOptions {
    ConnectionOptions connection{};
    std::string queue{};  ///< Sources of one queue share its messages.
    /// Declares the queue, durable and a quorum queue; with an exchange also that, and binds the one to the other.
    bool declare = false;
    std::string exchange{};
    std::string exchange_type = "topic";
    std::string binding = "#";
    /// Of a queue that is declared: one source at a time gets messages, and another takes over when it goes. Without it the
    /// order of keys is kept by nobody, not even for one source that connects anew: the broker may go on with later messages
    /// before it takes back what the connection before had.
    bool single_active_consumer = true;
    std::uint16_t prefetch = 256;                               ///< Delivered and not acknowledged, at most.
    std::chrono::seconds heartbeat = std::chrono::seconds(10);  ///< A broker that is silent for two of them is gone.
};

/// From a URL: amqp://user:password@host:port/vhost?queue=…&declare=true&exchange=…&prefetch=64, and what `parse_url`
/// knows. An Error (`rejected`) says what is wrong, without repeating the URL.
[[nodiscard]] Result<RabbitmqSourceOptions> source_options(std::string_view url);
/// Rejected: they cannot work, and why.
[[nodiscard]] Status check(const RabbitmqSourceOptions& options);

/// Consumes a queue with explicit acknowledgements. When the connection breaks, the broker delivers again what was not
/// acknowledged, and tags from before mean nothing any more: they never reach the new channel. The broker does not confirm
/// acknowledgements, so one that got lost shows as a repeat. `redelivered` is the broker's word; it also marks what had only
/// been on its way. The id is that of the CloudEvent, else the message's own.
///
/// Where the queue goes to one source at a time, what is given back goes back with the connection, so that no other source
/// gets what stands behind it before it: nothing is delivered until everything else that is held has been acknowledged or
/// given back, and then the source connects anew, behind those that wait. One thread at a time, except for `wake`.
class RabbitmqSource final : public Source {
public:
    /// Connects and begins to consume. Rejected: the options cannot work, or there is no such queue. Unavailable: nobody is
    /// there.
    [[nodiscard]] static Result<std::unique_ptr<RabbitmqSource>> open(RabbitmqSourceOptions options,
                                                                      Clock& clock = system_clock());
    ~RabbitmqSource() override;
    RabbitmqSource(const RabbitmqSource&) = delete;
    RabbitmqSource& operator=(const RabbitmqSource&) = delete;

    /// An Error (`unavailable`): the connection broke, and the next call makes another.
    [[nodiscard]] Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override;
    [[nodiscard]] Status acknowledge(std::span<const DeliveryTag> tags) override;
    [[nodiscard]] Status give_back(std::span<const DeliveryTag> tags) override;
    void pause() override;
    void resume() override;
    void wake() override;

private:
    struct State;
    explicit RabbitmqSource(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::rabbitmq
