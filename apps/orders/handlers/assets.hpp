#pragma once

#include "apps/orders/domain/asset.hpp"
#include "semel/command/command.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orders {

struct ModifyAsset {
    semel::Uuid asset_id;
    std::int64_t expected_version = 0;
    std::string change;                      ///< One of asset_change.
    std::optional<std::int64_t> quantity{};  ///< Of SET_QUANTITY, and of nothing else.
    std::string reason{};
};
/// Refused with NoSuch, WrongState, Stale, or Unacceptable for a quantity that is missing or makes no sense.
[[nodiscard]] semel::Result<Handled<Asset>> modify_asset(const ModifyAsset& asked, semel::Work& work);

}  // namespace orders
