#pragma once

#include "semel/base/time.hpp"
#include "semel/message/cloud_event.hpp"
#include "semel/nats/address.hpp"
#include "semel/sink/sink.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace semel::nats {

enum class Mode : unsigned char {
    binary,      ///< The payload is the message, the attributes are headers ("ce-id").
    structured,  ///< The message is one JSON document with both.
};

/// How a stream is made that is not there. One that is there is left as it is.
struct StreamOptions {
    bool create = false;
    std::vector<std::string> subjects{};                  ///< None: "<stream>.>".
    std::int64_t replicas = 1;                            ///< 3 survives the loss of a machine.
    Duration duplicate_window = std::chrono::minutes(2);  ///< How long the server knows a repeat by its id.
    std::int64_t message_max = -1;                        ///< Bytes; -1: what the server takes.
};

struct NatsSinkOptions {
    ConnectionOptions connection{};
    std::string stream{};
    std::string subject = "{stream}.{aggregate_type}.{type}";  ///< See SubjectTemplate.
    StreamOptions stream_options{};
    CloudEventOptions event{.source = "/semel"};
    Mode mode = Mode::binary;
    std::size_t max_in_flight = 256;               ///< Messages sent and not acknowledged, each of another aggregate.
    Duration deadline = std::chrono::seconds(10);  ///< Of one `publish`, if the caller allows more.
};

/// From a URL: nats://user:password@host:port/STREAM?subject=…&mode=structured&create=true&replicas=3&max_in_flight=64,
/// and what `parse_url` knows. An Error (`rejected`) says what is wrong, without repeating the URL.
[[nodiscard]] Result<NatsSinkOptions> sink_options(std::string_view url);
/// Rejected: they cannot work, and why.
[[nodiscard]] Status check(const NatsSinkOptions& options);

/// Publishes events to a JetStream stream, with the event's id as `Nats-Msg-Id`: what is sent twice within the stream's
/// duplicate window is stored once. Acknowledged means that the stream has it, on a majority of its replicas; whether that
/// is on a disk is the server's setting, see `warnings`.
///
/// Of each aggregate one event is under way at a time, so that a refused or lost one cannot be overtaken; events of
/// different aggregates are under way side by side. A connection that broke, or on which something stayed unanswered, is
/// closed for good, and the next `publish` makes another. One thread at a time.
class NatsSink final : public Sink {
public:
    /// Connects, and looks for the stream. Rejected: the options cannot work, or there is no such stream. Unavailable:
    /// nobody is there.
    [[nodiscard]] static Result<std::unique_ptr<NatsSink>> open(NatsSinkOptions options, Clock& clock = system_clock());
    ~NatsSink() override;
    NatsSink(const NatsSink&) = delete;
    NatsSink& operator=(const NatsSink&) = delete;

    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;

    /// What a person should know about the durability of this stream, as it was when the sink was opened.
    [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;

private:
    struct State;
    explicit NatsSink(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::nats
