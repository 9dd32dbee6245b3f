#pragma once

#include "apps/orders/domain/step.hpp"
#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orders {

namespace asset_state {

inline constexpr std::string_view active = "ACTIVE";
inline constexpr std::string_view suspended = "SUSPENDED";  ///< Still the customer's, and not in service.
inline constexpr std::string_view ended = "ENDED";          ///< Final.
inline constexpr std::array all{active, suspended, ended};

}  // namespace asset_state

/// What the world is told when there is one.
inline constexpr std::string_view asset_created_event = "asset.created";

// The life of an asset.
namespace asset_step {

using asset_state::active;
using asset_state::ended;
using asset_state::suspended;

inline constexpr Step change{.from = {active}, .to = active, .event = "asset.changed"};
inline constexpr Step suspend{.from = {active}, .to = suspended, .event = "asset.suspended"};
inline constexpr Step resume{.from = {suspended}, .to = active, .event = "asset.resumed"};
inline constexpr Step end{.from = {active, suspended}, .to = ended, .event = "asset.ended"};

}  // namespace asset_step

// How a change is called from outside.
namespace asset_change {

inline constexpr std::string_view suspend = "SUSPEND";
inline constexpr std::string_view resume = "RESUME";
inline constexpr std::string_view end = "END";
inline constexpr std::string_view set_quantity = "SET_QUANTITY";
inline constexpr std::array all{suspend, resume, end, set_quantity};

}  // namespace asset_change

/// What a customer has: one item of a completed order, in service until it ends. Of one product instance there is never
/// more than one that has not ended.
struct Asset {
    semel::Uuid id;
    semel::Uuid order_id;
    semel::Uuid item_id;
    std::string customer_id;
    std::string instance_key;
    std::string sku;
    std::int64_t quantity = 1;
    std::string state{asset_state::active};
    std::int64_t version = 1;
    semel::Timestamp created_at{};

    [[nodiscard]] Snapshot snapshot() const noexcept { return {.kind = "asset", .state = state, .version = version}; }
};

/// The step that a change is; none: there is no such change.
[[nodiscard]] const Step* asset_step_of(std::string_view change) noexcept;

/// The asset after a step that nothing stands in the way of. A quantity replaces the one it has.
[[nodiscard]] Asset after(const Step& step, Asset asset, std::optional<std::int64_t> quantity);

}  // namespace orders
