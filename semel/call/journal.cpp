#include "semel/call/journal.hpp"

#include <algorithm>

namespace semel {
namespace {

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::int64_t in_milliseconds(Duration duration) noexcept {
    return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

Result<Call> call_in(const Row& row) {
    Call call;
    call.call_id = SEMEL_TRY(row.get<std::string>(0));
    call.name = SEMEL_TRY(row.get<std::string>(1));
    call.integration = SEMEL_TRY(row.get<std::string>(2));
    call.operation = SEMEL_TRY(row.get<std::string>(3));
    call.business_key = SEMEL_TRY(row.get<std::string>(4));
    call.external_request_id = SEMEL_TRY(row.get<std::string>(5));
    const auto capability = SEMEL_TRY(row.get<std::string_view>(6));
    call.capability = SEMEL_TRY(parse_capability(capability));
    const auto request = SEMEL_TRY(row.get<Bytes>(7));
    call.request = text_of(request);
    const auto status = SEMEL_TRY(row.get<std::string_view>(8));
    call.status = SEMEL_TRY(parse_call_status(status));
    if (call.status == CallStatus::confirmed) {
        call.response.status = SEMEL_TRY(row.get<std::int32_t>(9));
        const auto response = SEMEL_TRY(row.get<Bytes>(10));
        call.response.body = text_of(response);
    }
    call.attempt = SEMEL_TRY(row.get<std::int64_t>(11));
    call.asks = SEMEL_TRY(row.get<std::int64_t>(12));
    call.ends_in = std::chrono::milliseconds(SEMEL_TRY(row.get<std::int64_t>(13)));
    call.may_retry = SEMEL_TRY(row.get<bool>(14));
    call.last_error = SEMEL_TRY(row.get<std::string>(15));
    call.error_code = SEMEL_TRY(row.get<std::string>(16));
    call.epoch = SEMEL_TRY(row.get<std::int64_t>(17));
    call.owner = SEMEL_TRY(row.get<Uuid>(18));
    return call;
}

}  // namespace

Result<CallStatements> CallStatements::from(const Catalogue& catalogue) {
    return CallStatements{.look = SEMEL_TRY(catalogue.find("call_look")),
                          .list = SEMEL_TRY(catalogue.find("call_list")),
                          .intend = SEMEL_TRY(catalogue.find("call_intend")),
                          .intend_again = SEMEL_TRY(catalogue.find("call_intend_again")),
                          .confirm = SEMEL_TRY(catalogue.find("call_confirm")),
                          .fail = SEMEL_TRY(catalogue.find("call_fail")),
                          .doubt = SEMEL_TRY(catalogue.find("call_doubt")),
                          .leave = SEMEL_TRY(catalogue.find("call_leave"))};
}

Result<std::optional<Call>> Journal::look(Transaction& tx, std::string_view call_id) const {
    const Rows rows = SEMEL_TRY(tx.execute(statements_->look, call_id));
    if (rows.empty()) return std::nullopt;
    return SEMEL_TRY(call_in(rows.front()));
}

Result<std::vector<Call>> Journal::list(Transaction& tx, const Digest& command) const {
    const Rows rows = SEMEL_TRY(tx.execute(statements_->list, BytesView(command)));
    std::vector<Call> calls;
    calls.reserve(rows.size());
    for (const Row row : rows) calls.push_back(SEMEL_TRY(call_in(row)));
    return calls;
}

void Journal::intend(Transaction& tx, const CallOwner& owner, const CallSpec& spec,
                     const Integration& integration) const {
    tx.post(statements_->intend, call_id(owner.command, spec.name), BytesView(owner.command), spec.name, owner.tenant,
            integration.name, spec.operation.empty() ? spec.name : spec.operation, spec.business_key,
            external_request_id(owner.command, spec.name), semel::name(integration.capability), bytes_of(spec.request),
            owner.epoch, owner.owner, in_milliseconds(integration.start_within),
            in_milliseconds(integration.start_within + integration.duration_max));
}

void Journal::intend_again(Transaction& tx, const CallOwner& owner, const Call& found,
                           const Integration& integration) const {
    tx.post_expecting(1, statements_->intend_again, found.call_id, found.attempt, owner.epoch, owner.owner,
                      in_milliseconds(integration.start_within),
                      in_milliseconds(integration.start_within + integration.duration_max));
}

void Journal::confirm(Transaction& tx, const Call& call, const CallResponse& response) const {
    tx.post_expecting(1, statements_->confirm, call.call_id, call.attempt, response.status, bytes_of(response.body));
}

void Journal::fail(Transaction& tx, const Call& call, const Error& error, std::optional<Duration> retry_in) const {
    const Parameter wait = retry_in ? Parameter(in_milliseconds(*retry_in)) : Parameter();
    tx.post_expecting(1, statements_->fail, call.call_id, call.attempt, kept_text(error.message),
                      kept_text(error.cause.code), wait);
}

void Journal::doubt(Transaction& tx, const Call& call, std::string_view error, bool asked) const {
    tx.post_expecting(1, statements_->doubt, call.call_id, call.attempt, kept_text(error), asked ? 1 : 0);
}

void Journal::leave(Transaction& tx, const Digest& command) const { tx.post(statements_->leave, BytesView(command)); }

std::string kept_text(std::string_view text) {
    constexpr std::size_t kept_max = 1000;  // Enough for a sentence and its causes; the log has the rest.
    std::string kept(text.substr(0, kept_max));
    // Neither half a character nor a zero byte can be stored as text.
    while (!kept.empty() && kept.size() < text.size() && (static_cast<unsigned char>(kept.back()) & 0x80U) != 0)
        kept.pop_back();
    std::ranges::replace(kept, '\0', ' ');
    return kept;
}

}  // namespace semel
