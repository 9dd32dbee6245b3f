#include "apps/orders/domain/asset.hpp"

namespace orders {
namespace {

struct NamedStep {
    std::string_view name;
    const Step* step;
};
constexpr std::array named{
    NamedStep{asset_change::suspend, &asset_step::suspend}, NamedStep{asset_change::resume, &asset_step::resume},
    NamedStep{asset_change::end, &asset_step::end}, NamedStep{asset_change::set_quantity, &asset_step::change}};

}  // namespace

const Step* asset_step_of(std::string_view change) noexcept {
    for (const NamedStep& candidate : named)
        if (candidate.name == change) return candidate.step;
    return nullptr;
}

Asset after(const Step& step, Asset asset, std::optional<std::int64_t> quantity) {
    asset.state = step.to;
    ++asset.version;
    if (quantity) asset.quantity = *quantity;
    return asset;
}

}  // namespace orders
