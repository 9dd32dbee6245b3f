#pragma once

#include "semel/base/result.hpp"
#include "semel/message/cloud_event.hpp"
#include "semel/rabbitmq/address.hpp"
#include "semel/rabbitmq/waker.hpp"
#include "semel/retry/deadline.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::rabbitmq {

/// What the broker says by itself.
struct Incoming {
    enum class Kind : std::uint8_t {
        acked,      ///< `tag`, and with `multiple` all before it, were taken.
        nacked,     ///< The same, and were not.
        returned,   ///< A message that no queue wanted; `code` and `text` say why. It is acked afterwards.
        delivered,  ///< A message for us.
        blocked,    ///< The broker is short of memory or disk, and reads nothing more that is published.
        unblocked,
        cancelled,  ///< The queue is gone, or moves: nothing is delivered any more.
    };
    Kind kind{};
    std::uint64_t tag = 0;
    bool multiple = false;
    bool redelivered = false;
    int code = 0;
    std::string text{};
    std::string exchange{};
    std::string routing_key{};
    std::string message_id{};
    std::vector<CloudEventAttribute> headers{};  ///< With the content type among them.
    std::string body{};
};

struct Outgoing {
    std::string exchange{};
    std::string routing_key{};
    std::string message_id{};
    std::string type{};
    std::uint64_t timestamp = 0;  ///< Seconds.
    std::vector<CloudEventAttribute> headers{};
    std::string_view body{};
};

/// An exchange or a queue as it is wanted.
struct QueueDeclaration {
    std::string exchange{};
    std::string exchange_type = "topic";
    std::string queue{};    ///< None: only the exchange.
    std::string binding{};  ///< The pattern by which the queue gets messages of the exchange.
    bool single_active_consumer = true;
};

/// One connection to one server, with one channel. It is never mended: when it breaks, or the broker closes the channel,
/// another is made. Talks on the calling thread alone; each call has a limit. One thread at a time.
class Link {
public:
    /// Tries the servers in turn, beginning with one after the other at each call. `heartbeat` zero: none.
    [[nodiscard]] static Result<std::unique_ptr<Link>> open(const ConnectionOptions& options,
                                                            std::chrono::seconds heartbeat, Clock& clock,
                                                            Deadline deadline);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Durable, the queue a quorum queue; fine if they are there and alike.
    [[nodiscard]] Status declare(const QueueDeclaration& declaration);
    /// Whether an exchange is there. An Error: it is not, or nobody answered; the connection is of no more use.
    [[nodiscard]] Status find_exchange(const std::string& exchange);
    /// From now on each message is confirmed; the first one has the tag 1.
    [[nodiscard]] Status confirm_publishes();
    [[nodiscard]] Status consume(const std::string& queue, std::uint16_t prefetch);
    /// What was delivered before the broker heard of it comes from `next` all the same.
    [[nodiscard]] Status stop_consuming(Duration limit);

    /// Hands a message to the operating system: persistent, and to come back if no queue wants it. An Error: the connection
    /// is gone, and it may or may not have been sent. A broker that reads nothing for as long as `limit` counts as gone.
    [[nodiscard]] Status publish(const Outgoing& message, Duration limit);
    [[nodiscard]] Status acknowledge(std::uint64_t tag);
    [[nodiscard]] Status requeue(std::uint64_t tag);

    /// The next thing the broker says; nothing if it said nothing before `until`, or the waker woke. An Error: the connection
    /// is of no more use, and why.
    [[nodiscard]] Result<std::optional<Incoming>> next(Instant until, const Waker* waker = nullptr);

private:
    struct State;
    explicit Link(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::rabbitmq
