#pragma once

#include <memory>

// What libpq calls its two objects. Declared here, so that no header of ours needs libpq's.
struct pg_conn;
struct pg_result;

namespace semel::postgres {

using PGconn = ::pg_conn;
using PGresult = ::pg_result;

struct FinishConnection {
    void operator()(PGconn* connection) const noexcept;
};
struct ClearResult {
    void operator()(PGresult* result) const noexcept;
};

/// Owns a connection of libpq's; destroying it closes the connection without waiting.
using ConnectionHandle = std::unique_ptr<PGconn, FinishConnection>;
/// Owns one answer of the server's.
using ResultHandle = std::unique_ptr<PGresult, ClearResult>;

}  // namespace semel::postgres
