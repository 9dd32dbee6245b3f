#include "semel/idempotency/statements.hpp"

namespace semel {

Result<Statements> Statements::from(const Catalogue& catalogue) {
    return Statements{.claim_guard = SEMEL_TRY(catalogue.find("claim_guard")),
                      .claim_lock = SEMEL_TRY(catalogue.find("claim_lock")),
                      .claim_wait = SEMEL_TRY(catalogue.find("claim_wait")),
                      .record_finish = SEMEL_TRY(catalogue.find("record_finish")),
                      .record_look = SEMEL_TRY(catalogue.find("record_look")),
                      .record_look_by_id = SEMEL_TRY(catalogue.find("record_look_by_id")),
                      .record_expire = SEMEL_TRY(catalogue.find("record_expire")),
                      .record_forget = SEMEL_TRY(catalogue.find("record_forget")),
                      .barrier = SEMEL_TRY(catalogue.find("barrier"))};
}

}  // namespace semel
