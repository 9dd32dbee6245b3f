#include "apps/orders/storage/payments.hpp"

namespace orders {
namespace {

using semel::Result;
using semel::Row;
using semel::Rows;
using semel::Transaction;
using semel::Uuid;

Result<Payment> payment_from(const Row& row) {
    return Payment{.id = SEMEL_TRY(row.get<Uuid>("id")),
                   .reference = SEMEL_TRY(row.get<std::string>("reference")),
                   .amount = SEMEL_TRY(row.get<semel::Decimal>("amount")),
                   .currency = SEMEL_TRY(row.get<std::string>("currency")),
                   .created_at = SEMEL_TRY(row.get<semel::Timestamp>("created_at"))};
}

Result<std::optional<Payment>> first_of(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(payment_from(rows.front()));
}

}  // namespace

void insert_payment(Transaction& tx, std::string_view tenant, const Payment& payment) {
    tx.post(
        "INSERT INTO orders_payment (tenant, id, reference, amount, currency, created_at)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        tenant, payment.id, payment.reference, payment.amount, payment.currency, payment.created_at);
}

Result<std::optional<Payment>> find_payment_of_reference(Transaction& tx, std::string_view tenant,
                                                         std::string_view reference) {
    return first_of(SEMEL_TRY(tx.execute(
        "SELECT id, reference, amount, currency, created_at FROM orders_payment WHERE tenant = $1 AND reference = $2",
        tenant, reference)));
}

Result<std::optional<Payment>> find_payment(semel::Database& database, semel::Deadline deadline,
                                            std::string_view tenant, const Uuid& id) {
    return first_of(SEMEL_TRY(
        read(database, deadline,
             "SELECT id, reference, amount, currency, created_at FROM orders_payment WHERE tenant = $1 AND id = $2",
             tenant, id)));
}

Result<std::vector<Payment>> list_payments(semel::Database& database, semel::Deadline deadline, std::string_view tenant,
                                           const Slice& slice) {
    const Rows rows = SEMEL_TRY(read(database, deadline,
                                     "SELECT id, reference, amount, currency, created_at FROM orders_payment"
                                     " WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3",
                                     tenant, slice.after, slice.limit));
    std::vector<Payment> payments;
    payments.reserve(rows.size());
    for (const Row row : rows) payments.push_back(SEMEL_TRY(payment_from(row)));
    return payments;
}

}  // namespace orders
