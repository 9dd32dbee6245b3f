#include "semel/http/answer.hpp"

#include "semel/http/problem_codes.hpp"
#include "semel/retry/http_table.hpp"
#include "semel/retry/retry_after.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace semel::http {
namespace {

/// How much of an answer's body stands in the error, for people.
constexpr std::size_t excerpt_max = 512;

/// The code of a problem; empty if it is none.
std::string problem_code(const Response& response) {
    const std::string_view type = response.headers.find("Content-Type").value_or("");
    if (!same_name(type.substr(0, type.find(';')), "application/problem+json")) return {};
    const auto body = nlohmann::json::parse(response.content(), nullptr, false);
    if (!body.is_object()) return {};
    const auto code = body.find("code");
    return code != body.end() && code->is_string() ? code->get<std::string>() : std::string();
}

}  // namespace

Result<Response> judge(Response response, Timestamp now) {
    if (response.status < 300) return response;
    Error error;
    const auto retry_after = response.headers.find("Retry-After");
    if (retry_after) {
        // One that cannot be read asks for nothing.
        if (const auto wait = parse_retry_after(*retry_after, now)) error.cause.retry_after = *wait;
    }
    HttpSign sign = HttpSign::none;
    const std::string code = problem_code(response);
    if (response.status == 409 && code == problems::request_already_in_progress.code) sign = HttpSign::in_flight;
    // Retry-After usually means that nothing was done; a server that says it does not know is believed.
    if (error.cause.retry_after && code != problems::outcome_unknown.code) {
        sign = sign == HttpSign::none ? HttpSign::retry_after : sign;
    }
    const int status = static_cast<int>(response.status);
    error.fault = classify_http(status, sign, Phase::commit);
    if (error.fault == Fault::rejected) return response;
    error.cause.code = http_code(status, sign);
    error.message = "answered " + std::to_string(status);
    if (!code.empty() && is_field_value(code)) error.message += " " + code;
    error.native = response.content().substr(0, excerpt_max);
    return fail(std::move(error));
}

Error overall(Error error, Deadline deadline, Instant now) {
    if (error.cause.timeout == Timeout::request && deadline.passed(now)) error.cause.timeout = Timeout::total;
    return error;
}

}  // namespace semel::http
