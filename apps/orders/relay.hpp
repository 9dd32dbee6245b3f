#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/db/database.hpp"
#include "semel/relay/doorbell.hpp"
#include "semel/webhook/signature.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace orders {

/// Where this instance publishes events itself.
struct RelayConfig {
    std::string to{};  ///< https://…, or a broker; empty: another process relays.
    bool allow_private = false;
    std::vector<semel::webhook::Secret> secrets{};
    /// How long nobody else publishes what an instance that died was about to.
    semel::Duration lease = std::chrono::seconds(30);
    /// A folder: what does not keep its contract there is parked instead of published. Empty: published as it is.
    std::filesystem::path contracts{};
    bool allow_unknown_types = false;  ///< Types without a contract are published all the same.
};

/// Publishes the events of the store on a thread of its own, as soon as the doorbell says that there are some. Several
/// instances share the work.
class EventRelay {
public:
    /// Works from here on. Database and doorbell must outlive it. An Error names what is wrong with the configuration.
    [[nodiscard]] static semel::Result<EventRelay> start(semel::Database& database, semel::Doorbell& doorbell,
                                                         const RelayConfig& config);
    EventRelay(EventRelay&&) noexcept;
    EventRelay& operator=(EventRelay&&) noexcept;
    /// Drains.
    ~EventRelay();

private:
    struct State;
    explicit EventRelay(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace orders
