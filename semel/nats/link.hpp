#pragma once

#include "semel/base/result.hpp"
#include "semel/message/cloud_event.hpp"
#include "semel/nats/address.hpp"
#include "semel/nats/mailbox.hpp"
#include "semel/retry/deadline.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct __natsConnection;
struct __natsSubscription;
struct __jsCtx;

namespace semel::nats {

/// One connection to one server, which is never mended: when it breaks, another is made, so that nothing which was meant
/// for the first goes out later by surprise. Answers and deliveries go to the mailbox. One thread at a time.
class Link {
public:
    /// Tries the servers in turn, beginning with one after the other at each call. An Error (`unavailable`) is that of the
    /// last one tried.
    [[nodiscard]] static Result<std::unique_ptr<Link>> open(const ConnectionOptions& options,
                                                            const std::shared_ptr<Mailbox>& mailbox, Clock& clock,
                                                            Deadline deadline);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Hands a message to the operating system. What is answered to it comes with `answer` as the last token of its
    /// subject; zero: no answer is wanted. Rejected: too large for the server. Unavailable: the connection is gone, and it
    /// may or may not have been sent.
    [[nodiscard]] Status publish(const std::string& subject, std::uint64_t answer,
                                 std::span<const CloudEventAttribute> headers, std::string_view payload);
    /// Asks for deliveries: they come to the mailbox, and so does whatever the server says about the request.
    [[nodiscard]] Status request_deliveries(const std::string& subject, std::string_view payload);

    /// No more deliveries come here, nor are any meant for here sent.
    void stop_deliveries();

    [[nodiscard]] bool closed() const;
    [[nodiscard]] __jsCtx* jetstream() const noexcept { return jetstream_; }

private:
    Link() = default;
    [[nodiscard]] Status connect(const ConnectionOptions& options, const ServerAddress& server, Duration limit);
    [[nodiscard]] Status listen(const std::shared_ptr<Mailbox>& mailbox);

    __natsConnection* connection_ = nullptr;
    __jsCtx* jetstream_ = nullptr;
    std::vector<__natsSubscription*> subscriptions_;
    std::string inbox_;
};

/// Which request a message answers: the last token of its subject.
[[nodiscard]] std::uint64_t answered_request(const NatsMessage& message);

}  // namespace semel::nats
