#pragma once

#include "semel/base/time.hpp"
#include "semel/nats/address.hpp"
#include "semel/source/source.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace semel::nats {

struct NatsSourceOptions {
    ConnectionOptions connection{};
    std::string stream{};
    std::string consumer{};  ///< The durable's name: sources with the same one share its messages.
    std::string filter{};    ///< Only subjects that this pattern covers; none: all.
    /// Makes the durable if it is not there, beginning with the oldest message, and sets `prefetch` and `ack_wait` of one
    /// that is.
    bool create = true;
    /// Delivered and not acknowledged, at most: by this source, and by all sources of the consumer together.
    std::size_t prefetch = 256;
    /// How long the server waits for a source that says nothing before it delivers again. While it is called, the source
    /// goes on saying that it is at work.
    Duration ack_wait = std::chrono::seconds(30);
    Duration acknowledge_limit = std::chrono::seconds(3);  ///< For the server to confirm acknowledgements.
};

/// From a URL: nats://user:password@host:port/STREAM?consumer=billing&filter=…&prefetch=64&ack_wait=30, and what
/// `parse_url` knows. An Error (`rejected`) says what is wrong, without repeating the URL.
[[nodiscard]] Result<NatsSourceOptions> source_options(std::string_view url);
/// Rejected: they cannot work, and why.
[[nodiscard]] Status check(const NatsSourceOptions& options);

/// Reads a JetStream stream through a durable pull consumer with explicit acknowledgements, which the server confirms.
/// Deliveries outlive a broken connection: their tags stay good on the next one. A source that is closed gives back what
/// it holds; what a killed process held comes again when `ack_wait` has passed, and a source that follows it waits for
/// that, so that keys keep their order from one process to the next; across sources that share a consumer at the same time
/// they do not. The id is that of the CloudEvent, else
/// `Nats-Msg-Id`, else stream and sequence. One thread at a time, except for `wake`.
class NatsSource final : public Source {
public:
    /// Connects, and looks for the consumer. Rejected: the options cannot work, or there is no such stream or consumer.
    /// Unavailable: nobody is there.
    [[nodiscard]] static Result<std::unique_ptr<NatsSource>> open(NatsSourceOptions options,
                                                                  Clock& clock = system_clock());
    ~NatsSource() override;
    NatsSource(const NatsSource&) = delete;
    NatsSource& operator=(const NatsSource&) = delete;

    /// An Error (`unavailable`): the connection broke, and the next call makes another.
    [[nodiscard]] Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override;
    [[nodiscard]] Status acknowledge(std::span<const DeliveryTag> tags) override;
    [[nodiscard]] Status give_back(std::span<const DeliveryTag> tags) override;
    void pause() override;
    void resume() override;
    void wake() override;

private:
    struct State;
    explicit NatsSource(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::nats
