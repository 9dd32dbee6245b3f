#include "semel/command/leased_failure.hpp"

#include "semel/call/journal.hpp"
#include "semel/command/lease.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace semel {
namespace {

constexpr std::string_view postgres_cancelled = "57014";
constexpr std::string_view sqlite_interrupted = "9";

bool out_of_time(const Error& error, bool of_store) noexcept {
    const Cause& cause = error.cause;
    return cause.timeout != Timeout::none || cause.stop == Stop::deadline || cause.code == postgres_cancelled ||
           (of_store && cause.code == sqlite_interrupted);
}

/// By the class of a SQLSTATE, or the primary code of SQLite within an extended one.
bool violates_constraint(std::string_view code) noexcept {
    constexpr std::size_t sqlstate_size = 5;
    constexpr std::string_view sqlstate_class = "23";
    constexpr unsigned primary_mask = 0xff;
    constexpr unsigned sqlite_constraint = 19;
    if (code.size() == sqlstate_size) return code.starts_with(sqlstate_class);
    unsigned number = 0;
    const auto [end, wrong] = std::from_chars(code.data(), code.data() + code.size(), number);
    return wrong == std::errc() && end == code.data() + code.size() && (number & primary_mask) == sqlite_constraint;
}

/// A string of JSON; the text is made UTF-8 first.
std::string quoted(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr unsigned char printable = 0x20;
    std::string json = "\"";
    for (const char c : kept_text(text)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            json.append("\\").push_back(c);
        else if (byte < printable)
            json.append("\\u00").append({digits[byte >> 4U], digits[byte & 0xfU]});
        else
            json.push_back(c);
    }
    return json + "\"";
}

}  // namespace

void StoreFailure::on_body(const Transaction& tx, bool failed) {
    heard_.reset();
    body_failed_ = failed;
    if (tx.failure() != nullptr) heard_ = *tx.failure();
}

void StoreFailure::on_outcome(const Outcome<>& outcome) {
    constexpr std::size_t said_max = 16;  // A handler passes on what it heard last, or not long before.
    if (!outcome.committed() && !body_failed_) heard_ = outcome.error();
    if (!outcome.committed() && heard_) said_.push_back(*std::move(heard_));
    if (said_.size() > said_max) said_.erase(said_.begin());
    heard_.reset();
    body_failed_ = false;
}

bool StoreFailure::is(const Error& error) const noexcept {
    // Context is put in front of a message, and nothing else that is compared here changes on an Error's way out.
    return std::ranges::any_of(said_, [&error](const Error& said) {
        return error.cause.code == said.cause.code && error.native == said.native &&
               error.message.ends_with(said.message);
    });
}

Error judged(Error error, bool of_store) {
    if (error.fault != Fault::rejected || fence_lost(error)) return error;
    if (out_of_time(error, of_store))
        error.fault = Fault::unavailable;
    else if (of_store && !violates_constraint(error.cause.code))
        error.fault = Fault::broken;
    return error;
}

Reply default_refusal(const Error& error, bool of_store, std::string_view correlation_id) {
    constexpr int unprocessable = 422;
    constexpr int unavailable = 503;
    const bool refused = error.fault == Fault::rejected;
    const int status = refused ? unprocessable : unavailable;
    std::string body = R"({"type":"about:blank","title":)";
    body += quoted(refused ? "The command was refused" : "The command could not be executed");
    body += R"(,"status":)" + std::to_string(status);
    if (!of_store && !error.message.empty()) body += R"(,"detail":)" + quoted(error.message);
    body += R"(,"code":)" + quoted(refused ? "COMMAND_REFUSED" : "COMMAND_NOT_EXECUTED");
    if (!correlation_id.empty()) body += R"(,"correlationId":)" + quoted(correlation_id);
    body += "}";
    return {.status = status, .body = std::move(body), .headers = {{"Content-Type", "application/problem+json"}}};
}

}  // namespace semel
