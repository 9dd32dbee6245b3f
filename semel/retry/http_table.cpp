#include "semel/retry/http_table.hpp"

#include "semel/base/assert.hpp"

#include <array>

namespace semel {
namespace {

using enum Fault;

constexpr std::array rules = {
    Rule{http_refused_stream, "stream refused", unavailable, unavailable, unavailable, false,
         "The peer vouches that it did not process the stream."},
    Rule{"3*", "redirection", rejected, rejected, rejected, false, "A redirection that was not followed stays one."},
    Rule{"4*", "client error", rejected, rejected, rejected, false, "The same request will be refused again."},
    Rule{"408", "Request Timeout", unavailable, unknown, unknown, true,
         "The server gave up waiting, perhaps after it had read enough to act."},
    Rule{"409", "Conflict", rejected, rejected, rejected, false,
         "The request contradicts the resource's state; only the caller can decide anew."},
    Rule{"409 in flight", "Conflict, same key in flight", throttled, throttled, throttled, false,
         "The first execution of this key has not ended; asking again with the same key is a poll."},
    Rule{"425", "Too Early", unavailable, unavailable, unavailable, false,
         "The server refuses to process what might be a replay; it did nothing."},
    Rule{"429", "Too Many Requests", throttled, throttled, throttled, false,
         "The server did nothing and asks for less."},
    Rule{"5*", "server error", unavailable, unknown, unknown, false,
         "A status without a row of its own is read as 500."},
    Rule{"500", "Internal Server Error", unavailable, unknown, unknown, false,
         "The server may have failed after the effect."},
    Rule{"501", "Not Implemented", rejected, rejected, rejected, false, "The server does not know the method."},
    Rule{"502", "Bad Gateway", unavailable, unknown, unknown, false,
         "The gateway lost the server, perhaps after passing the request on."},
    Rule{"503", "Service Unavailable", unavailable, unknown, unknown, false,
         "Without Retry-After it may come from anything on the way, before or after the effect."},
    Rule{"503 Retry-After", "Service Unavailable, with Retry-After", throttled, throttled, throttled, false,
         "The server did nothing and says when to come back."},
    Rule{"504", "Gateway Timeout", unavailable, unknown, unknown, false,
         "The gateway stopped waiting; the server may still be at it."},
    Rule{"505", "HTTP Version Not Supported", rejected, rejected, rejected, false,
         "The server does not speak this version."},
    Rule{"511", "Network Authentication Required", rejected, rejected, rejected, false,
         "Someone must sign in to the network; the request did not leave it."},
};
static_assert(well_formed(rules));

}  // namespace

std::span<const Rule> http_rules() noexcept { return rules; }

std::string http_code(int status, HttpSign sign) {
    std::string code = std::to_string(status);
    if (status == 503 && sign == HttpSign::retry_after) code += " Retry-After";
    if (status == 409 && sign == HttpSign::in_flight) code += " in flight";
    return code;
}

Fault classify_http(int status, HttpSign sign, Phase phase) noexcept {
    SEMEL_ASSERT(status < 200 || status > 299);
    return classify(rules, http_code(status, sign), phase);
}

}  // namespace semel
