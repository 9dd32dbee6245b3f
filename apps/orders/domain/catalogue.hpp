#pragma once

#include "apps/orders/domain/price.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace orders {

/// A page of the catalogue is all of it. One with more products than this needs a search, not a list.
inline constexpr std::int64_t products_max = 1'000;

struct ListPrice {
    std::string currency;
    semel::Decimal price;
};

/// A product as the catalogue shows it: in every currency in which it is sold.
struct CatalogueEntry {
    std::string sku;
    std::string name;
    semel::Decimal tax_rate;
    std::vector<ListPrice> prices{};            ///< By currency.
    std::vector<QuantityDiscount> discounts{};  ///< By ascending quantity.
};

}  // namespace orders
