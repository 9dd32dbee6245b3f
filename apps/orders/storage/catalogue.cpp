#include "apps/orders/storage/catalogue.hpp"

namespace orders {
namespace {

using semel::Decimal;
using semel::Result;
using semel::Row;
using semel::Rows;

/// One row for each product and discount, by SKU and quantity; a product without a discount has one row.
Result<std::vector<Product>> products_from(const Rows& rows) {
    std::vector<Product> products;
    for (const Row row : rows) {
        auto sku = SEMEL_TRY(row.get<std::string>("sku"));
        if (products.empty() || products.back().sku != sku)
            products.push_back({.sku = std::move(sku),
                                .name = SEMEL_TRY(row.get<std::string>("name")),
                                .list_price = SEMEL_TRY(row.get<std::optional<Decimal>>("list_price")),
                                .tax_rate = SEMEL_TRY(row.get<Decimal>("tax_rate"))});
        if (const auto from = SEMEL_TRY(row.get<std::optional<std::int64_t>>("quantity_from")))
            products.back().discounts.push_back({.quantity_from = *from, .rate = SEMEL_TRY(row.get<Decimal>("rate"))});
    }
    return products;
}

}  // namespace

Result<std::optional<Product>> load_product(semel::Transaction& tx, std::string_view sku, std::string_view currency) {
    const Rows rows = SEMEL_TRY(tx.execute(
        "SELECT product.sku, product.name, product.tax_rate, price.list_price, discount.quantity_from, discount.rate"
        " FROM orders_product AS product"
        " LEFT JOIN orders_product_price AS price ON price.sku = product.sku AND price.currency = $2"
        " LEFT JOIN orders_product_discount AS discount ON discount.sku = product.sku"
        " WHERE product.sku = $1 ORDER BY discount.quantity_from",
        sku, currency));
    auto products = SEMEL_TRY(products_from(rows));
    if (products.empty()) return std::nullopt;
    return std::move(products.front());
}

Result<std::vector<Product>> load_products_of_quote(semel::Transaction& tx, std::string_view tenant,
                                                    const semel::Uuid& quote_id, std::string_view currency) {
    return products_from(SEMEL_TRY(tx.execute(
        "SELECT product.sku, product.name, product.tax_rate, price.list_price, discount.quantity_from, discount.rate"
        " FROM orders_product AS product"
        " LEFT JOIN orders_product_price AS price ON price.sku = product.sku AND price.currency = $3"
        " LEFT JOIN orders_product_discount AS discount ON discount.sku = product.sku"
        " WHERE product.sku IN (SELECT sku FROM orders_quote_item WHERE tenant = $1 AND quote_id = $2)"
        " ORDER BY product.sku, discount.quantity_from",
        tenant, quote_id, currency)));
}

Result<std::vector<CatalogueEntry>> list_products(semel::Database& database, semel::Deadline deadline) {
    // Prices and discounts below each other: side by side there would be a row for each pair of them.
    const Rows rows = SEMEL_TRY(read(
        database, deadline,
        "SELECT product.sku, product.name, product.tax_rate, line.currency, line.list_price, line.quantity_from,"
        " line.rate"
        " FROM (SELECT sku, name, tax_rate FROM orders_product ORDER BY sku LIMIT $1) AS product"
        " LEFT JOIN (SELECT sku, currency, list_price, NULL AS quantity_from, NULL AS rate FROM orders_product_price"
        " UNION ALL SELECT sku, NULL, NULL, quantity_from, rate FROM orders_product_discount) AS line"
        " ON line.sku = product.sku ORDER BY product.sku, line.currency, line.quantity_from",
        products_max));
    std::vector<CatalogueEntry> entries;
    for (const Row row : rows) {
        auto sku = SEMEL_TRY(row.get<std::string>("sku"));
        if (entries.empty() || entries.back().sku != sku)
            entries.push_back({.sku = std::move(sku),
                               .name = SEMEL_TRY(row.get<std::string>("name")),
                               .tax_rate = SEMEL_TRY(row.get<Decimal>("tax_rate"))});
        if (auto currency = SEMEL_TRY(row.get<std::optional<std::string>>("currency")))
            entries.back().prices.push_back(
                {.currency = *std::move(currency), .price = SEMEL_TRY(row.get<Decimal>("list_price"))});
        if (const auto from = SEMEL_TRY(row.get<std::optional<std::int64_t>>("quantity_from")))
            entries.back().discounts.push_back({.quantity_from = *from, .rate = SEMEL_TRY(row.get<Decimal>("rate"))});
    }
    return entries;
}

}  // namespace orders
