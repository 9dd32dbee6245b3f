// How a PostgresSession runs a migration: by the simple protocol, which takes several statements at
// once, inside the transaction that is open.

#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/session.hpp"

#include <libpq-fe.h>

namespace semel::postgres {

Status PostgresSession::run_script(std::string_view script, Deadline deadline) {
    SEMEL_TRY(usable(deadline));
    if (script.find('\0') != std::string_view::npos) return fail(Fault::rejected, "a script holds a zero byte");
    if (!begun_ || posted_ || !queue_failure_) SEMEL_TRY(send_and_wait(deadline));
    Wire& wire = pipeline_.wire();
    pipeline_.count_round_trip();
    mark_current_ = false;
    limits_in_force_.reset();  // A script may SET what it likes.

    Turn turn;
    const Item item{.step = Step::statement};
    Wait wait = wire.send_script(std::string(script).c_str()) ? Wait::ready : Wait::lost;
    while (wait == Wait::ready) {
        wait = wire.await(deadline);
        if (wait == Wait::deadline) break;
        const ResultHandle result = wire.take();
        if (!result) break;
        take(item, result.get(), turn);
        const ExecStatusType status = PQresultStatus(result.get());
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) wait = Wait::lost;
    }
    if (wait == Wait::ready && !wire.end_script()) wait = Wait::lost;
    const bool in_transaction = PQtransactionStatus(wire.connection()) == PQTRANS_INTRANS;
    if (wait == Wait::ready && !turn.error && in_transaction && !turn.ran_outside) return {};
    return fail(give_up(wait, turn, deadline));
}

}  // namespace semel::postgres
