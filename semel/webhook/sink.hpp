#pragma once

#include "semel/base/time.hpp"
#include "semel/message/cloud_event.hpp"
#include "semel/sink/sink.hpp"
#include "semel/webhook/signature.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace semel::webhook {

enum class Mode : unsigned char {
    binary,      ///< The payload is the body, the attributes are headers.
    structured,  ///< The body is one JSON document with both.
};

struct SinkOptions {
    std::string url{};  ///< https://…; http://… only with `allow_private`. No user or password in it.
    CloudEventOptions event{.source = "/semel"};
    Mode mode = Mode::binary;
    /// Every request is signed with each of them, so that a receiver may know the old or the new one. None: unsigned.
    std::vector<Secret> secrets{};
    /// Also to loopback and private addresses, and without TLS. Whoever chooses the URL could otherwise reach what
    /// only this machine can reach.
    bool allow_private = false;
    /// Requests at once, each of another aggregate; also the most connections that are kept.
    std::size_t parallel = 16;
    Duration connect_limit = std::chrono::seconds(3);  ///< Name, connection and TLS handshake.
    Duration request_limit = std::chrono::seconds(5);  ///< One whole request.
    std::string ca_file{};                             ///< PEM; the system's if empty.
};

/// Sends each event as an HTTP POST: a CloudEvent, with the headers of Standard Webhooks and the event's id as
/// `webhook-id`. Addresses are looked at when the connection is made, so a name that changes its address in between
/// gains nothing; redirects and proxies are not followed. A request that was sent and not answered is `unknown`.
/// One thread at a time.
class WebhookSink final : public Sink {
public:
    /// An Error (`rejected`) says what is wrong with the URL or the options. Talks to nobody.
    [[nodiscard]] static Result<std::unique_ptr<WebhookSink>> create(SinkOptions options,
                                                                     Clock& clock = system_clock());
    ~WebhookSink() override;
    WebhookSink(const WebhookSink&) = delete;
    WebhookSink& operator=(const WebhookSink&) = delete;

    /// Begins no request that could not have its time before the deadline, unless half of the time is left.
    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;

private:
    struct State;
    explicit WebhookSink(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

/// Fine if events may be sent there; an Error (`rejected`) says why not, without repeating the URL.
[[nodiscard]] Status check_url(const std::string& url, bool allow_private);

}  // namespace semel::webhook
