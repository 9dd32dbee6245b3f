#pragma once

#include "semel/base/result.hpp"
#include "semel/db/database.hpp"
#include "semel/outbox/append.hpp"
#include "semel/retry/deadline.hpp"
#include "semel/source/received.hpp"
#include "semel/webhook/signature.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace orders {

/// Where this instance takes messages from; from nowhere, if nobody says so.
struct ConsumeConfig {
    bool webhook = false;                           ///< By POST /api/v1/events.
    std::vector<semel::webhook::Secret> secrets{};  ///< Any of them: the old and the new one while they change.
    std::string from{};                             ///< The address of a broker; empty: none.
    std::size_t workers = 2;                        ///< Messages handled at once, by each consumer from each source.
};

/// What the consumers work with. The database must outlive them.
struct ConsumeContext {
    semel::Database& database;
    semel::EventCheck check_event{};  ///< Of events that they append.
    std::function<void()> on_done{};  ///< Something was committed: perhaps there are events. From any thread.
};

/// Everything that this instance consumes: fulfilment and billing, each message once.
class Consumers {
public:
    /// An Error names what is wrong with the configuration.
    [[nodiscard]] static semel::Result<std::unique_ptr<Consumers>> create(const ConsumeContext& context,
                                                                          const ConsumeConfig& config);
    /// Drains: lets the handlers under way end, and gives the rest back.
    ~Consumers();
    Consumers(const Consumers&) = delete;
    Consumers& operator=(const Consumers&) = delete;

    void start();

    /// A message that came by webhook. Returns when whoever wants it is done with it; at once, if nobody does. An Error as
    /// WebhookSource::offer has it. Thread-safe.
    [[nodiscard]] semel::Status take(const semel::ReceivedMessage& message, semel::Deadline deadline);
    /// Turns away what comes by webhook from now on. What was begun goes on.
    void close();

private:
    struct State;
    explicit Consumers(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace orders
