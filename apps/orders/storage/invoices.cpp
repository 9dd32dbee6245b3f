#include "apps/orders/storage/invoices.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Uuid;

Result<Invoice> invoice_from(const Row& row) {
    return Invoice{.id = SEMEL_TRY(row.get<Uuid>("id")),
                   .order_id = SEMEL_TRY(row.get<Uuid>("order_id")),
                   .customer_id = SEMEL_TRY(row.get<std::string>("customer_id")),
                   .currency = SEMEL_TRY(row.get<std::string>("currency")),
                   .sums = {.net = SEMEL_TRY(row.get<semel::Decimal>("net")),
                            .tax = SEMEL_TRY(row.get<semel::Decimal>("tax")),
                            .gross = SEMEL_TRY(row.get<semel::Decimal>("gross"))},
                   .issued_at = SEMEL_TRY(row.get<semel::Timestamp>("issued_at"))};
}

Result<std::optional<Invoice>> only_invoice(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(invoice_from(rows.front()));
}

}  // namespace

void insert_invoice(semel::Transaction& tx, std::string_view tenant, const Invoice& invoice) {
    tx.post(
        "INSERT INTO orders_invoice (tenant, id, order_id, customer_id, currency, net, tax, gross, issued_at)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        tenant, invoice.id, invoice.order_id, invoice.customer_id, invoice.currency, invoice.sums.net, invoice.sums.tax,
        invoice.sums.gross, invoice.issued_at);
}

Result<std::optional<Invoice>> find_invoice_of_order(semel::Transaction& tx, std::string_view tenant,
                                                     const Uuid& order_id) {
    return only_invoice(
        SEMEL_TRY(tx.execute("SELECT id, order_id, customer_id, currency, net, tax, gross, issued_at"
                             " FROM orders_invoice WHERE tenant = $1 AND order_id = $2",
                             tenant, order_id)));
}

Result<std::optional<Invoice>> find_invoice(semel::Database& database, semel::Deadline deadline,
                                            std::string_view tenant, const Uuid& id) {
    return only_invoice(SEMEL_TRY(read(database, deadline,
                                       "SELECT id, order_id, customer_id, currency, net, tax, gross, issued_at"
                                       " FROM orders_invoice WHERE tenant = $1 AND id = $2",
                                       tenant, id)));
}

Result<std::vector<Invoice>> list_invoices(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                           std::optional<Uuid> order_id, const Slice& slice) {
    // Two statements, so that each can walk an index of its own.
    const Rows rows = SEMEL_TRY(
        order_id ? read(database, deadline,
                        "SELECT id, order_id, customer_id, currency, net, tax, gross, issued_at FROM orders_invoice"
                        " WHERE tenant = $1 AND order_id = $3 AND id > $2 ORDER BY id LIMIT $4",
                        tenant, slice.after, *order_id, slice.limit)
                 : read(database, deadline,
                        "SELECT id, order_id, customer_id, currency, net, tax, gross, issued_at FROM orders_invoice"
                        " WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3",
                        tenant, slice.after, slice.limit));
    std::vector<Invoice> invoices;
    invoices.reserve(rows.size());
    for (const Row row : rows) invoices.push_back(SEMEL_TRY(invoice_from(row)));
    return invoices;
}

}  // namespace orders
