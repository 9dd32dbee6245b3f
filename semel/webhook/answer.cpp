#include "semel/webhook/answer.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace semel::webhook {
namespace {

constexpr Duration wait_max = std::chrono::hours(24);

Error refused(Fault fault, const Answer& answer, std::string message, std::string hint = {}) {
    Error error;
    error.fault = fault;
    error.message = std::move(message);
    error.native = answer.body;
    error.cause.code = std::to_string(answer.status);
    error.cause.hint = std::move(hint);
    return error;
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now) {
    std::int64_t seconds = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (!text.empty() && end == text.data() + text.size()) {
        if (failure == std::errc::result_out_of_range) return wait_max;
        const std::int64_t most = std::chrono::duration_cast<std::chrono::seconds>(wait_max).count();
        return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, most));
    }
    const std::time_t date = ::curl_getdate(std::string(text).c_str(), nullptr);
    if (date < 0) return std::nullopt;
    const Duration wait = Timestamp(std::chrono::seconds(date)) - now;
    return std::clamp(wait, Duration::zero(), wait_max);
}

Status judge(const Answer& answer, Timestamp now) {
    const std::string answered = "the receiver answered " + std::to_string(answer.status);
    if (answer.status >= 200 && answer.status <= 299) return {};
    if (answer.status >= 300 && answer.status <= 399) {
        Error error = refused(Fault::rejected, answer, answered + ": a redirect, and redirects are not followed",
                              "give the address at which the receiver itself answers");
        error.native = answer.location;
        return fail(std::move(error));
    }
    const auto wait = parse_retry_after(answer.retry_after, now);
    if (answer.status == 429 || (answer.status == 503 && wait)) {
        Error error = refused(Fault::throttled, answer, answered + ": it asks for less");
        error.cause.retry_after = wait;
        return fail(std::move(error));
    }
    if (answer.status == 408 || answer.status == 425 || answer.status >= 500) {
        Error error = refused(Fault::unavailable, answer, answered);
        error.cause.retry_after = wait;
        return fail(std::move(error));
    }
    if (answer.status == 410)
        return fail(refused(Fault::rejected, answer, answered + ": it wants no more events at this address, ever",
                            "stop this relay, or give it the new address"));
    return fail(refused(Fault::rejected, answer, answered + ": it does not take this event"));
}

}  // namespace semel::webhook
