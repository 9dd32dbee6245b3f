#include "semel/db/transaction.hpp"

#include "semel/base/mutant.hpp"

#include <tuple>

namespace semel {
namespace {

/// A planted bug: what was overtaken is repeated by itself, in a transaction that knows nothing of what came before it.
Result<Rows> run_once_more(Session& session, const Statement& statement, Deadline deadline) {
    std::ignore = session.rollback(deadline);
    SEMEL_TRY(session.begin({}, deadline));
    return session.execute(statement, deadline);
}

}  // namespace

std::string_view name(Dialect dialect) noexcept {
    switch (dialect) {
        case Dialect::sqlite: return "sqlite";
        case Dialect::postgres: return "postgres";
        case Dialect::mariadb: return "mariadb";
    }
    SEMEL_ASSERT(false && "a Dialect outside its enumeration");
}

Transaction::Transaction(Session& session, const TransactionOptions& options, Deadline deadline)
    : session_(&session), deadline_(deadline), first_failure_(session.begin(options, deadline)) {}

Status Transaction::usable() const {
    SEMEL_ASSERT(!ended_ && "the transaction was already committed or rolled back");
    if (!first_failure_) return fail(Error(first_failure_.error()));
    return {};
}

template <class T>
Result<T> Transaction::remember(Result<T> result) {
    if (!result) first_failure_ = fail(Error(result.error()));
    return result;
}

void Transaction::open() {
    sent_ = true;
    if (!opening_) return;
    session_->post_ahead({.sql = opening_->sql,
                          .parameters = std::span(opening_->parameters).first(opening_->count),
                          .expected_rows = std::nullopt});
    opening_.reset();
}

Result<Rows> Transaction::run(const Statement& statement) {
    SEMEL_TRY(usable());
    open();
    Result<Rows> rows = session_->execute(statement, deadline_);
    if (!rows && rows.error().fault == Fault::conflict && SEMEL_MUTANT("statement_retried_alone"))
        rows = run_once_more(*session_, statement, deadline_);
    return remember(std::move(rows));
}

void Transaction::queue(const Statement& statement) {
    SEMEL_ASSERT(!ended_ && "the transaction was already committed or rolled back");
    if (first_failure_) session_->post(statement);
}

void Transaction::queue_ahead(const Statement& statement) {
    SEMEL_ASSERT(!ended_ && !sent_ && "only while nothing was sent");
    if (first_failure_) session_->post_ahead(statement);
}

Status Transaction::flush() {
    SEMEL_TRY(usable());
    open();
    return remember(session_->flush(deadline_));
}

Status Transaction::run_script(std::string_view script) {
    SEMEL_TRY(usable());
    open();
    return remember(session_->run_script(script, deadline_));
}

Outcome<> Transaction::commit() && {
    if (const Status fit = usable(); !fit) {
        // A handler that swallowed an error must not commit what is left of the transaction.
        ended_ = true;
        return NotCommitted{fit.error()};
    }
    ended_ = true;
    return session_->commit(deadline_);
}

Status Transaction::rollback() && {
    SEMEL_ASSERT(!ended_ && "the transaction was already committed or rolled back");
    ended_ = true;
    return session_->rollback(deadline_);
}

}  // namespace semel
