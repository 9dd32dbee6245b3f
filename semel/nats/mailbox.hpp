#pragma once

#include "semel/base/time.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

struct __natsMsg;

namespace semel::nats {

struct DestroyNatsMessage {
    void operator()(__natsMsg* message) const noexcept;
};
using NatsMessage = std::unique_ptr<__natsMsg, DestroyNatsMessage>;

/// Where the library's threads leave what came, and its owner picks it up. One for a sink or a source, through all the
/// connections it has one after the other; what belongs to an earlier connection is thrown away. Thread-safe.
class Mailbox {
public:
    enum class Kind : std::uint8_t {
        answer,    ///< To something that was published here.
        delivery,  ///< A message of a consumer, or what the server says about a pull.
    };
    struct Next {
        NatsMessage message;  ///< None: one of the others is so, or the time has come.
        bool closed = false;  ///< The connection is gone, and nothing of it is left.
        bool woken = false;
    };

    /// A new connection; the number is how it shows that it is the present one.
    [[nodiscard]] std::uint64_t begin();
    void put(std::uint64_t connection, Kind kind, NatsMessage message);
    void close(std::uint64_t connection);
    /// Ends a wait for deliveries, or the next one.
    void wake();

    /// Everything that was delivered and not picked up; a wake stays for the next wait.
    [[nodiscard]] std::deque<NatsMessage> take_deliveries();
    [[nodiscard]] Next next(Kind kind, Clock& clock, Instant until);

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<NatsMessage> answers_;
    std::deque<NatsMessage> deliveries_;
    std::uint64_t connection_ = 0;
    bool closed_ = true;
    bool woken_ = false;
};

}  // namespace semel::nats
