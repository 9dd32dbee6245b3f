#pragma once

#include "apps/orders/domain/catalogue.hpp"
#include "apps/orders/domain/price.hpp"
#include "apps/orders/storage/read.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace orders {

/// A product as it is sold in this currency; none: the catalogue does not know it.
[[nodiscard]] semel::Result<std::optional<Product>> load_product(semel::Transaction& tx, std::string_view sku,
                                                                 std::string_view currency);

/// Those products of a quote's items that the catalogue knows, each once, by SKU.
[[nodiscard]] semel::Result<std::vector<Product>> load_products_of_quote(semel::Transaction& tx,
                                                                         std::string_view tenant,
                                                                         const semel::Uuid& quote_id,
                                                                         std::string_view currency);

/// Everything that is sold, by SKU.
[[nodiscard]] semel::Result<std::vector<CatalogueEntry>> list_products(semel::Database& database,
                                                                       semel::Deadline deadline);

}  // namespace orders
