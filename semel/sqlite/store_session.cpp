#include "semel/sqlite/store_session.hpp"

#include "semel/sqlite/writer.hpp"

#include <utility>

namespace semel::sqlite {

StoreSession::~StoreSession() { undo(); }

Status StoreSession::begin(const TransactionOptions& options, Deadline) {
    if (state_ == SessionState::closed) return fail(Fault::broken, "begin: the session is closed");
    SEMEL_ASSERT(state_ == SessionState::idle && "begin inside a transaction");
    if (Status healthy = store_->health(); !healthy) {
        state_ = SessionState::closed;
        return fail(std::move(healthy).error().within("begin"));
    }
    options_ = options;
    member_.alone = std::exchange(next_alone_, false);
    state_ = SessionState::transaction;
    return {};
}

void StoreSession::post(const Statement& statement) {
    SEMEL_ASSERT(state_ != SessionState::idle && "post outside a transaction");
    if (state_ == SessionState::transaction) member_.work.add(statement);
}

void StoreSession::post_ahead(const Statement& statement) {
    SEMEL_ASSERT(state_ != SessionState::idle && !has_turn_ && "post_ahead after something was sent");
    if (state_ == SessionState::transaction) member_.work.add_ahead(statement);
}

Result<Rows> StoreSession::look(const Statement& statement, Deadline deadline) {
    SEMEL_TRY(begin({.access = Access::read_only}, deadline));
    Result<Rows> rows = execute(statement, deadline);
    Status undone = rollback(deadline);
    if (rows && !undone) return fail(std::move(undone).error());
    return rows;
}

bool StoreSession::reads_apart() const noexcept { return options_.access == Access::read_only && store_->has_file(); }

Status StoreSession::usable() const {
    SEMEL_ASSERT(state_ != SessionState::idle && "outside a transaction");
    if (state_ == SessionState::closed) return fail(Fault::broken, "the session is closed");
    if (state_ == SessionState::transaction) return {};
    Error error = *failure_;
    return fail(std::move(error).within("the transaction failed before and can only be rolled back"));
}

void StoreSession::set_limits(Deadline deadline) {
    const Instant now = store_->clock().now();
    member_.limits = {.deadline = deadline,
                      .lock = Deadline::after(now, options_.lock_timeout),
                      .statement = options_.statement_timeout,
                      .access = options_.access};
}

Status StoreSession::open_reader() {
    if (!reader_) reader_ = SEMEL_TRY(store_->open_reader(member_.limits));
    if (reading_) return {};
    if (const int code = reader_->control(Control::begin, member_.limits); code != 0)
        return fail(reader_->failed(code, Phase::connect).within("begin"));
    reading_ = true;
    return {};
}

Status StoreSession::take_turn() {
    if (has_turn_) return {};
    SEMEL_TRY(store_->writer().take_turn(member_));
    has_turn_ = true;
    return {};
}

template <class T>
Result<T> StoreSession::remember(Result<T> result) {
    member_.work.clear();
    if (result) return result;
    failure_ = result.error();
    state_ = store_->health() ? SessionState::failed : SessionState::closed;
    return result;
}

Result<Rows> StoreSession::execute(const Statement& statement, Deadline deadline) {
    SEMEL_TRY(usable());
    set_limits(deadline);
    return remember([&]() -> Result<Rows> {
        if (!reads_apart()) {
            SEMEL_TRY(take_turn());
            return store_->writer().execute(member_, statement);
        }
        SEMEL_TRY(open_reader());
        SEMEL_TRY(reader_->run_all(member_.work, member_.limits));
        return reader_->run(statement, member_.limits);
    }());
}

Status StoreSession::flush(Deadline deadline) {
    SEMEL_TRY(usable());
    if (member_.work.empty()) return {};
    set_limits(deadline);
    return remember([&]() -> Status {
        if (!reads_apart()) {
            SEMEL_TRY(take_turn());
            return store_->writer().flush(member_);
        }
        SEMEL_TRY(open_reader());
        return reader_->run_all(member_.work, member_.limits);
    }());
}

Status StoreSession::run_script(std::string_view script, Deadline deadline) {
    SEMEL_TRY(usable());
    set_limits(deadline);
    return remember([&]() -> Status {
        if (!reads_apart()) {
            SEMEL_TRY(take_turn());
            return store_->writer().run_script(member_, script);
        }
        SEMEL_TRY(open_reader());
        SEMEL_TRY(reader_->run_all(member_.work, member_.limits));
        return reader_->run_script(script, member_.limits);
    }());
}

Outcome<> StoreSession::commit(Deadline deadline) {
    if (Status fit = usable(); !fit) {
        Error error = std::move(fit).error();
        if (state_ == SessionState::failed) {
            // What the failure was concluded from may have been undone meanwhile.
            if (Status undone = rollback(deadline); !undone) error = std::move(undone).error();
        }
        return NotCommitted{std::move(error)};
    }
    set_limits(deadline);
    Outcome<> outcome = reads_apart() ? commit_reader() : commit_writer();
    end();
    return outcome;
}

Outcome<> StoreSession::commit_reader() {
    const auto finish = [this]() -> Status {
        if (!member_.work.empty()) SEMEL_TRY(open_reader());
        SEMEL_TRY(reader_ ? reader_->run_all(member_.work, member_.limits) : Status());
        return {};
    };
    const Status done = finish();
    // There is nothing to keep: ending a snapshot cannot fail in a way that matters.
    if (std::exchange(reading_, false)) std::ignore = reader_->control(Control::rollback, member_.limits);
    if (!done) return NotCommitted{done.error()};
    return Committed<void>{};
}

Outcome<> StoreSession::commit_writer() {
    Outcome<> outcome = Committed<void>{};
    if (has_turn_) {
        outcome = store_->writer().commit_turn(member_);
    } else if (!member_.work.empty()) {
        outcome = store_->writer().commit_job(member_);
    }
    has_turn_ = false;
    if (outcome.not_committed() && member_.ground == Member::Ground::lost) next_alone_ = true;
    return outcome;
}

Status StoreSession::rollback(Deadline) {
    SEMEL_ASSERT(state_ != SessionState::idle && "rollback outside a transaction");
    Status undone;
    if (std::exchange(has_turn_, false)) undone = store_->writer().rollback_turn(member_);
    if (!undone) next_alone_ = true;
    undo();
    end();
    return undone;
}

void StoreSession::undo() noexcept {
    if (std::exchange(has_turn_, false)) store_->writer().abandon_turn(member_);
    if (std::exchange(reading_, false)) std::ignore = reader_->control(Control::rollback, member_.limits);
}

void StoreSession::end() noexcept {
    member_.work.clear();
    failure_.reset();
    state_ = store_->health() ? SessionState::idle : SessionState::closed;
}

Status StoreSession::reset(Deadline) {
    if (state_ == SessionState::closed) return fail(Fault::broken, "reset: the session is closed");
    undo();
    end();
    return store_->health();
}

}  // namespace semel::sqlite
