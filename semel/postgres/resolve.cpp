#include "semel/postgres/resolve.hpp"

#include "semel/postgres/decode.hpp"
#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/identity.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <array>

namespace semel::postgres {
namespace {

// History and incarnation first, as Identity reads them.
constexpr const char* server_sql =
    "SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || "
    "CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END, "
    "(SELECT extract(epoch FROM stats_reset) FROM pg_stat_wal), "
    "current_setting('synchronous_standby_names') <> '', current_setting('transaction_read_only')";

constexpr std::string_view status_sql = "SELECT pg_xact_status($1::xid8)";

// The process must still be the same one, in the same transaction, and waiting for its client. One
// that waits for anything else has got COMMIT and is at it; above all a wait for a standby is left
// alone: ending it would commit without the standby.
constexpr std::string_view terminate_sql =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::int "
    "AND extract(epoch FROM backend_start) = $2::numeric AND backend_xid = $3::xid8::xid "
    "AND wait_event = 'ClientRead'";

constexpr const char* synchronous_sql =
    "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') "
    "WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)";
constexpr const char* barrier_sql = "SELECT pg_logical_emit_message(true, 'semel.barrier', '')";

/// How long a transaction may be in progress before its server process is terminated, if that waits
/// for its client: a COMMIT that did arrive is being executed by then.
constexpr Duration patience = std::chrono::milliseconds(50);
constexpr Duration wait_first = std::chrono::milliseconds(2);
constexpr Duration wait_max = std::chrono::milliseconds(100);

struct Answer {
    bool identified = false;
    Identity identity;
    bool synchronous = false;
    bool writable = false;
    std::string status;   ///< As pg_xact_status says; empty if it does not.
    bool future = false;  ///< The number was not given out yet.
};

class Question {
public:
    Question(Pipeline& pipeline, Clock& clock, const Mark& mark, Deadline deadline)
        : pipeline_(&pipeline),
          clock_(&clock),
          mark_(&mark),
          deadline_(deadline),
          number_(std::to_string(mark.transaction)) {}

    Result<Resolution> run() {
        const Instant started = clock_->now();
        Duration wait = wait_first;
        bool terminated = false;
        for (;;) {
            const Answer answer = SEMEL_TRY(ask());
            if (answer.identity.history != mark_->history || !answer.writable) return Resolution::unknown;
            if (answer.future || answer.status == "aborted") return Resolution::not_committed;
            if (answer.status == "committed") {
                if (answer.identity.incarnation != mark_->incarnation) return Resolution::unknown;
                return answer.synchronous ? barrier() : Resolution::committed;
            }
            if (answer.status != "in progress") return Resolution::unknown;
            if (!terminated && clock_->now() - started >= patience) {
                terminated = SEMEL_TRY(terminate());
            }
            const Instant next = clock_->now() + wait;
            if (deadline_.passed(next)) return Resolution::unknown;
            (void)clock_->sleep(next, {});
            wait = std::min(wait * 2, wait_max);
        }
    }

private:
    /// Both answers come from one server even behind a pooler: up to Sync it is one transaction.
    Result<Answer> ask() {
        Answer answer;
        std::optional<Error> error;
        pipeline_->add_plain(Step::identity, server_sql);
        const std::array<Parameter, 1> number{std::string_view(number_)};
        SEMEL_TRY(pipeline_->add(Step::status, status_sql, number));
        SEMEL_TRY(exchange([&](const Item& item, const PGresult* result) {
            if (item.step == Step::identity && succeeded(result)) {
                answer.identified = true;
                answer.identity = Identity::from(result, 0);
                answer.synchronous = field_of(result, 2) == "t";
                answer.writable = field_of(result, 3) == "off";
            } else if (item.step == Step::status && succeeded(result)) {
                answer.status = field_of(result, 0);
            } else if (item.step == Step::status && is_plain_error(result) && sqlstate_of(result) == "22023") {
                answer.future = true;
            }
        }));
        if (!answer.identified) return fail(Fault::unavailable, "resolve: the server did not say which one it is");
        return answer;
    }

    /// Whether there was a process to end.
    Result<bool> terminate() {
        const std::size_t slash = mark_->process.find('/');
        if (slash == std::string::npos) return false;
        const std::string_view process = mark_->process;
        const std::array<Parameter, 3> parameters{process.substr(0, slash), process.substr(slash + 1),
                                                  std::string_view(number_)};
        SEMEL_TRY(pipeline_->add(Step::housekeeping, terminate_sql, parameters));
        bool ended = false;
        SEMEL_TRY(
            exchange([&](const Item&, const PGresult* result) { ended = succeeded(result) && PQntuples(result) > 0; }));
        return ended;
    }

    /// Commits something of our own behind what was seen, and waits for the standby with it.
    Result<Resolution> barrier() {
        Identity identity;
        std::string tag;
        pipeline_->add_plain(Step::begin, "BEGIN");
        pipeline_->add_plain(Step::identity, server_sql);
        pipeline_->add_plain(Step::limits, synchronous_sql);
        pipeline_->add_plain(Step::statement, barrier_sql);
        pipeline_->add_plain(Step::commit, "COMMIT");
        SEMEL_TRY(exchange([&](const Item& item, const PGresult* result) {
            if (!succeeded(result)) return;
            if (item.step == Step::identity) identity = Identity::from(result, 0);
            if (item.step == Step::commit) tag = PQcmdStatus(const_cast<PGresult*>(result));
        }));
        const bool reached = tag == "COMMIT" && pipeline_->warnings_of_last_step() == 0 &&
                             identity.history == mark_->history && identity.incarnation == mark_->incarnation;
        return reached ? Resolution::committed : Resolution::unknown;
    }

    Status exchange(const Pipeline::OnAnswer& on_answer) {
        const Wait wait = pipeline_->exchange(deadline_, on_answer);
        if (wait == Wait::ready) return {};
        // Harmless even in the barrier, which carries nothing: it only frees the server process.
        if (wait == Wait::deadline) pipeline_->wire().cancel();
        Error error = lost_connection(pipeline_->wire().last_words(), Phase::transaction);
        if (wait == Wait::deadline) {
            error.message = "the deadline passed before the server told what became of the transaction";
            error.cause.timeout = Timeout::total;
        }
        return fail(std::move(error).within("resolve"));
    }

    Pipeline* pipeline_;
    Clock* clock_;
    const Mark* mark_;
    Deadline deadline_;
    std::string number_;
};

}  // namespace

Result<Resolution> resolve(Pipeline& pipeline, Clock& clock, const Mark& mark, Deadline deadline) {
    if (!mark.taken) return Resolution::unknown;
    if (mark.transaction == 0) return Resolution::committed;
    // Asked once or twice: names would save nothing, and none can be lost.
    const bool names = pipeline.uses_names();
    pipeline.use_names(false);
    auto answer = Question(pipeline, clock, mark, deadline).run();
    pipeline.use_names(names);
    return answer;
}

}  // namespace semel::postgres
