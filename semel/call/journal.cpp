#include "semel/call/journal.hpp"

#include <algorithm>

namespace semel {
namespace {

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::int64_t in_milliseconds(Duration duration) noexcept {
    return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

/// From a stored number of milliseconds; what other programs wrote may be anything.
Duration bounded(std::int64_t milliseconds) noexcept {
    constexpr std::int64_t most = std::chrono::milliseconds(std::chrono::years(100)).count();
    return std::chrono::milliseconds(std::clamp(milliseconds, -most, most));
}

unsigned char byte_at(std::string_view text, std::size_t at) noexcept { return static_cast<unsigned char>(text[at]); }

/// How many bytes the character at the start of a text has; zero if there is none that UTF-8 allows.
std::size_t character(std::string_view text) noexcept {
    const unsigned char lead = byte_at(text, 0);
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    const std::size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((byte_at(text, i) & 0xc0U) != 0x80) return 0;
    // Longer than it must be, half of a pair, or past the last character.
    const unsigned char second = byte_at(text, 1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90)) return 0;
    if ((lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f)) return 0;
    return size;
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
    call.ends_in = bounded(SEMEL_TRY(row.get<std::int64_t>(13)));
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
            in_milliseconds(integration.over_within()));
}

void Journal::intend_again(Transaction& tx, const CallOwner& owner, const Call& found,
                           const Integration& integration) const {
    tx.post_expecting(1, statements_->intend_again, found.call_id, found.attempt, owner.epoch, owner.owner,
                      in_milliseconds(integration.start_within), in_milliseconds(integration.over_within()));
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
    std::string kept;
    while (!text.empty()) {
        const std::size_t size = character(text);
        const std::string_view next = size == 0 ? "?" : text.front() == '\0' ? " " : text.substr(0, size);
        if (kept.size() + next.size() > kept_max) break;
        kept += next;
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return kept;
}

}  // namespace semel
