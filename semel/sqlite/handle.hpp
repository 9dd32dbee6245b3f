#pragma once

#include <memory>

struct sqlite3;
struct sqlite3_stmt;

namespace semel::sqlite {

struct CloseDatabase {
    void operator()(sqlite3* database) const noexcept;
};
struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const noexcept;
};

using DatabaseHandle = std::unique_ptr<sqlite3, CloseDatabase>;
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

}  // namespace semel::sqlite
