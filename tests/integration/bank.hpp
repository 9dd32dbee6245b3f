#pragma once

#include "semel/db/transact.hpp"

#include <gtest/gtest.h>

namespace semel::integration {

/// A few accounts and a row per transfer: enough to see an effect that is missing or doubled.
constexpr int account_count = 8;
constexpr std::int64_t opening_balance = 1000;

inline void create_bank(Database& database) {
    const auto outcome = transact(database, [](Transaction& tx) -> Status {
        SEMEL_TRY(
            tx.run_script("CREATE TABLE account (id integer PRIMARY KEY, balance bigint NOT NULL);"
                          "CREATE TABLE transfer (id text PRIMARY KEY, source integer NOT NULL,"
                          " target integer NOT NULL, amount bigint NOT NULL);"));
        for (int id = 0; id < account_count; ++id)
            tx.post("INSERT INTO account (id, balance) VALUES ($1, $2)", id, opening_balance);
        return {};
    });
    ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
}

struct Transfer {
    Uuid id;
    int source;
    int target;
    std::int64_t amount;
};

/// Reads both balances, then writes them: wrong unless the two are one with the transaction.
inline Status move_money(Transaction& tx, const Transfer& transfer) {
    const auto source = SEMEL_TRY(tx.execute("SELECT balance FROM account WHERE id = $1", transfer.source));
    const auto target = SEMEL_TRY(tx.execute("SELECT balance FROM account WHERE id = $1", transfer.target));
    tx.post_expecting(1, "UPDATE account SET balance = $2 WHERE id = $1", transfer.source,
                      SEMEL_TRY(source.scalar<std::int64_t>()) - transfer.amount);
    tx.post_expecting(1, "UPDATE account SET balance = $2 WHERE id = $1", transfer.target,
                      SEMEL_TRY(target.scalar<std::int64_t>()) + transfer.amount);
    tx.post("INSERT INTO transfer (id, source, target, amount) VALUES ($1, $2, $3, $4)", transfer.id.text(),
            transfer.source, transfer.target, transfer.amount);
    return {};
}

struct Totals {
    std::int64_t money = 0;
    std::int64_t transfers = 0;
};

inline Totals totals(Database& database) {
    Totals result;
    TransactOptions options;
    options.transaction.access = Access::read_only;
    const auto outcome = transact(database, options, [&](Transaction& tx) -> Status {
        const auto rows =
            SEMEL_TRY(tx.execute("SELECT CAST((SELECT sum(balance) FROM account) AS bigint) AS money,"
                                 " (SELECT count(*) FROM transfer) AS transfers"));
        result.money = SEMEL_TRY(rows.front().get<std::int64_t>("money"));
        result.transfers = SEMEL_TRY(rows.front().get<std::int64_t>("transfers"));
        return {};
    });
    EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
    return result;
}

}  // namespace semel::integration
