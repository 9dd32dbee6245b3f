#include "apps/orders/storage/read.hpp"

#include "semel/retry/blocking.hpp"

namespace orders {

semel::Result<semel::Rows> read_rows(semel::Database& database, semel::Deadline deadline,
                                     const semel::Statement& statement) {
    const semel::RetryScope scope{.budget = &database.budget(),
                                  .breaker = &database.breaker(),
                                  .deadline = deadline,
                                  .repeat = semel::Repeat::safe};
    return semel::retry_blocking(database.clock(), database.random(), database.retry(), scope,
                                 [&]() -> semel::Result<semel::Rows> {
                                     auto session = SEMEL_TRY(database.pool().acquire(deadline));
                                     return session->look(statement, deadline);
                                 });
}

}  // namespace orders
