#include "apps/orders/storage/schema.hpp"

namespace orders {

// Embedded from migrations/, one folder for each database.
namespace postgres {
std::span<const semel::Migration> migrations() noexcept;
}  // namespace postgres
namespace sqlite {
std::span<const semel::Migration> migrations() noexcept;
}  // namespace sqlite

std::span<const semel::Migration> schema(semel::Dialect dialect) noexcept {
    return dialect == semel::Dialect::sqlite ? sqlite::migrations() : postgres::migrations();
}

}  // namespace orders
