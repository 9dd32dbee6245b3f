#pragma once

#include "semel/db/catalogue.hpp"

namespace semel {

/// The statements of this module in the words of one driver.
struct Statements {
    Sql claim_guard;
    Sql claim_lock;
    Sql claim_wait;
    Sql record_finish;
    Sql record_look;
    Sql record_look_by_id;
    Sql record_expire;
    Sql record_forget;
    Sql barrier;

    [[nodiscard]] static Result<Statements> from(const Catalogue& catalogue);
};

}  // namespace semel
