#include "semel/idempotency/record.hpp"

#include <algorithm>

namespace semel {
namespace {

Result<Fingerprint> fingerprint_from(const Row& row) {
    const auto stored = SEMEL_TRY(row.get<BytesView>(0));
    Fingerprint fingerprint;
    if (stored.size() != fingerprint.digest.size() + 1) {
        // Made by another program through the SQL functions: it matches no fingerprint of ours.
        return fingerprint;
    }
    fingerprint.version = std::to_integer<std::uint8_t>(stored.front());
    std::ranges::copy(stored.begin() + 1, stored.end(), fingerprint.digest.begin());
    return fingerprint;
}

Result<Record> record_in(const Row& row) {
    Record record;
    record.fingerprint = SEMEL_TRY(fingerprint_from(row));
    const auto state = SEMEL_TRY(row.get<std::string_view>(1));
    record.state = SEMEL_TRY(parse_command_state(state));
    record.expired = SEMEL_TRY(row.get<bool>(2)) || record.state == CommandState::expired;
    record.needs_barrier = SEMEL_TRY(row.get<bool>(7));
    if (!finished(record.state)) return record;
    record.reply.status = SEMEL_TRY(row.get<std::int32_t>(3));
    const auto headers = SEMEL_TRY(row.get<std::string_view>(4));
    record.reply.headers = SEMEL_TRY(decode_headers(headers));
    const auto body = SEMEL_TRY(row.get<BytesView>(5));
    record.reply.body.assign(reinterpret_cast<const char*>(body.data()), body.size());
    // A century fits in nanoseconds; what another program keeps for longer is kept long enough.
    constexpr std::int64_t longest = std::chrono::milliseconds(std::chrono::years(100)).count();
    record.expires_in = std::chrono::milliseconds(std::min(SEMEL_TRY(row.get<std::int64_t>(6)), longest));
    return record;
}

}  // namespace

Result<std::optional<Record>> record_from(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(record_in(rows.front()));
}

Result<std::optional<Record>> look(Session& session, const Statements& statements, const Digest& identity,
                                   Deadline deadline) {
    const std::array parameters{parameter(BytesView(identity))};
    const Rows rows = SEMEL_TRY(session.look(
        {.sql = statements.record_look, .parameters = parameters, .expected_rows = std::nullopt}, deadline));
    return record_from(rows);
}

Result<std::optional<NamedRecord>> look_by_id(Session& session, const Statements& statements, BytesView id,
                                              Deadline deadline) {
    Digest first{};
    Digest last;
    last.fill(std::byte{0xff});
    SEMEL_ASSERT(id.size() <= first.size());
    std::ranges::copy(id, first.begin());
    std::ranges::copy(id, last.begin());
    const std::array parameters{parameter(BytesView(first)), parameter(BytesView(last))};
    const Rows rows = SEMEL_TRY(session.look(
        {.sql = statements.record_look_by_id, .parameters = parameters, .expected_rows = std::nullopt}, deadline));
    if (rows.empty()) return std::nullopt;
    const Row row = rows.front();
    return NamedRecord{.record = SEMEL_TRY(record_in(row)),
                       .tenant = SEMEL_TRY(row.get<std::string>(8)),
                       .caller = SEMEL_TRY(row.get<std::string>(9)),
                       .operation = SEMEL_TRY(row.get<std::string>(10)),
                       .key = SEMEL_TRY(row.get<std::string>(11)),
                       .attempts = SEMEL_TRY(row.get<std::int64_t>(12)),
                       .last_error = SEMEL_TRY(row.get<std::string>(13))};
}

}  // namespace semel
