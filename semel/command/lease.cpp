#include "semel/command/lease.hpp"

#include <algorithm>

namespace semel {

Result<LeaseStatements> LeaseStatements::from(const Catalogue& catalogue) {
    return LeaseStatements{.claim_guard = SEMEL_TRY(catalogue.find("claim_guard")),
                           .claim = SEMEL_TRY(catalogue.find("lease_claim")),
                           .accept = SEMEL_TRY(catalogue.find("lease_accept")),
                           .look = SEMEL_TRY(catalogue.find("lease_look")),
                           .fence = SEMEL_TRY(catalogue.find("lease_fence")),
                           .renew = SEMEL_TRY(catalogue.find("lease_renew")),
                           .finish = SEMEL_TRY(catalogue.find("lease_finish")),
                           .fail_later = SEMEL_TRY(catalogue.find("lease_fail_later")),
                           .yield = SEMEL_TRY(catalogue.find("lease_yield")),
                           .reconcile = SEMEL_TRY(catalogue.find("lease_reconcile")),
                           .retake = SEMEL_TRY(catalogue.find("lease_retake")),
                           .take_due = SEMEL_TRY(catalogue.find("lease_take_due")),
                           .take_expired = SEMEL_TRY(catalogue.find("lease_take_expired")),
                           .begin_run = SEMEL_TRY(catalogue.find("lease_begin_run")),
                           .set_lease = SEMEL_TRY(catalogue.find("lease_set")),
                           .step_look = SEMEL_TRY(catalogue.find("step_look")),
                           .step_store = SEMEL_TRY(catalogue.find("step_store")),
                           .step_count = SEMEL_TRY(catalogue.find("step_count")),
                           .call = SEMEL_TRY(CallStatements::from(catalogue))};
}

Result<std::optional<LeaseRecord>> look(Transaction& tx, const LeaseStatements& statements, const Digest& identity) {
    const Rows rows = SEMEL_TRY(tx.execute(statements.look, BytesView(identity)));
    if (rows.empty()) return std::nullopt;
    const Row row = rows.front();
    LeaseRecord record;
    const auto state = SEMEL_TRY(row.get<std::string_view>(0));
    record.state = SEMEL_TRY(parse_command_state(state));
    const auto fingerprint = SEMEL_TRY(row.get<Bytes>(1));
    record.fingerprint = fingerprint_from(fingerprint);
    record.epoch = SEMEL_TRY(row.get<std::int64_t>(2));
    record.owner = SEMEL_TRY(row.get<std::optional<Uuid>>(3)).value_or(Uuid());
    record.attempts = SEMEL_TRY(row.get<std::int64_t>(4));
    record.due_in = std::chrono::milliseconds(SEMEL_TRY(row.get<std::int64_t>(5)));
    return record;
}

Fingerprint fingerprint_from(BytesView stored) noexcept {
    Fingerprint fingerprint;
    if (stored.size() != fingerprint.digest.size() + 1) return fingerprint;
    fingerprint.version = std::to_integer<std::uint8_t>(stored.front());
    std::ranges::copy(stored.subspan(1), fingerprint.digest.begin());
    return fingerprint;
}

bool fence_lost(const Error& error) noexcept { return error.cause.code == "SM007"; }

void post_fence(Transaction& tx, const LeaseStatements& statements, const Lease& lease) {
    tx.post(statements.fence, BytesView(lease.identity), lease.epoch, lease.owner);
}

Outcome<> fenced(Database& database, const LeaseStatements& statements, const Lease& lease, Deadline deadline,
                 const std::function<Status(Transaction&)>& body) {
    TransactOptions options;
    options.transaction.marked = false;  // The fence settles a lost COMMIT: it runs again, and looks.
    options.lost_commit = LostCommit::rerun;
    options.deadline = deadline;
    return transact(database, options, [&](Transaction& tx) -> Status {
        post_fence(tx, statements, lease);
        return body(tx);
    });
}

Uuid new_owner(Random& random) noexcept {
    Uuid owner;
    for (std::size_t i = 0; i < owner.bytes.size(); i += sizeof(std::uint64_t)) {
        const std::uint64_t chance = random.next();
        for (std::size_t j = 0; j < sizeof chance; ++j) owner.bytes[i + j] = static_cast<std::byte>(chance >> (8 * j));
    }
    return owner;
}

std::int64_t milliseconds(Duration duration) noexcept {
    return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

}  // namespace semel
