#pragma once

#include "semel/message/cloud_event.hpp"
#include "semel/source/source.hpp"
#include "semel/webhook/signature.hpp"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string_view>

namespace semel::webhook {

/// A request as it came, with everything that says who sent it.
struct Inbound {
    std::span<const CloudEventAttribute> headers;  ///< All of them; names in any case.
    std::string_view body;
};

/// The message of a request: a CloudEvent in binary or structured mode, or any other body with its webhook-id as the id.
/// An Error (`rejected`), in words that may be shown to the sender: it is not signed by one of the secrets, it is too
/// old, or it has no id. The id that counts is the signed one: whoever has seen one request cannot make another of it.
///
/// The body is signed, the headers are not: of a CloudEvent in binary mode neither type nor tenant is. Who must not rely on
/// the connection alone lets senders use the structured mode, where everything is in the body. What only proves who sent
/// it (the signature, tokens, cookies) is no part of the message, which may be kept for people to look at.
[[nodiscard]] Result<ReceivedMessage> received_from(const Inbound& request, std::span<const Secret> secrets,
                                                    Timestamp now);

/// Messages that come in by HTTP. Whoever received a request offers it and waits: only when the consumer is done with it
/// is the sender told so, and a sender that is not told sends it again. Nothing is kept here. Thread-safe.
///
/// A sender does not say whether it has sent something before. For the first minutes of its life the source takes every
/// message for one that may have killed the process before this one, and marks it as redelivered; later it marks none.
class WebhookSource final : public Source {
public:
    static constexpr Duration suspicion = std::chrono::minutes(5);
    /// Each of them is a thread that waits; more than a server has.
    static constexpr std::size_t offered_default = 256;

    /// `offered_max`: messages that are waited for at once; more are turned away.
    explicit WebhookSource(std::size_t offered_max = offered_default, Clock& clock = system_clock())
        : offered_max_(offered_max), clock_(&clock), born_(clock.now()) {}

    /// Returns when the consumer is done with the message. An Error: it is not, as far as is known, and the sender is to send
    /// it again (`unavailable`: later; `throttled`: too many at once; `unknown`: the time was up while it was handled).
    [[nodiscard]] Status offer(ReceivedMessage message, Deadline deadline);
    /// Turns everything away from now on: for a service that stops.
    void close();

    [[nodiscard]] Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override;
    [[nodiscard]] Status acknowledge(std::span<const DeliveryTag> tags) override;
    [[nodiscard]] Status give_back(std::span<const DeliveryTag> tags) override;
    void pause() override;
    void resume() override;
    void wake() override;

private:
    enum class Stage : unsigned char { waiting, delivered, done, refused };
    struct Offer {
        ReceivedMessage message;
        Stage stage = Stage::waiting;
    };

    /// Tells whoever waits for these what became of them.
    void end(std::span<const DeliveryTag> tags, Stage stage);

    std::size_t offered_max_;
    Clock* clock_;
    Instant born_;
    std::mutex mutex_;
    std::condition_variable_any offered_;  ///< For the consumer.
    std::condition_variable_any ended_;    ///< For those who offered.
    std::map<DeliveryTag, Offer> offers_;  ///< By arrival; gone once nobody waits for it.
    DeliveryTag tags_ = 0;
    bool paused_ = false;
    bool woken_ = false;
    bool closed_ = false;
};

}  // namespace semel::webhook
