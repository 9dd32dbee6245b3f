#pragma once

#include "bench/pgbench_script.hpp"
#include "semel/db/transaction.hpp"

#include <cstdint>
#include <string>

namespace semel::bench {

// One transaction of three statements that wait for nothing, as Semel and as pgbench send it.

constexpr const char* payments_schema = R"(
CREATE TABLE payment (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bigint NOT NULL, amount bigint NOT NULL);
CREATE TABLE account (id bigint PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE entry (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bigint NOT NULL, amount bigint NOT NULL, kind text NOT NULL);
INSERT INTO account SELECT n, 0 FROM generate_series(1, 10000) AS n;
)";
constexpr std::int64_t accounts = 10'000;

/// pgbench's script.
inline std::string three_in_two_pipelines() {
    std::string script(prepared_ahead);
    return script.append(R"(
\set account random(1, 10000)
\set amount random(1, 1000)
\startpipeline
BEGIN;
INSERT INTO payment (account, amount) VALUES (:account, :amount);
UPDATE account SET balance = balance + :amount WHERE id = :account;
INSERT INTO entry (account, amount, kind) VALUES (:account, :amount, 'payment');
SELECT pg_current_xact_id();
\endpipeline
\startpipeline
COMMIT;
\endpipeline
)");
}

inline Sql insert_payment() { return "INSERT INTO payment (account, amount) VALUES ($1, $2)"; }

inline Status three_posted(Transaction& tx, std::int64_t account, std::int64_t amount) {
    tx.post(insert_payment(), account, amount);
    tx.post("UPDATE account SET balance = balance + $2 WHERE id = $1", account, amount);
    tx.post("INSERT INTO entry (account, amount, kind) VALUES ($1, $2, 'payment')", account, amount);
    return {};
}

}  // namespace semel::bench
