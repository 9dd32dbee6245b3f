#include "semel/webhook/signature.hpp"

#include "semel/base/base64.hpp"
#include "semel/base/hmac.hpp"

#include <charconv>
#include <vector>

namespace semel::webhook {
namespace {

constexpr std::string_view secret_prefix = "whsec_";
constexpr std::string_view scheme_prefix = "v1,";
constexpr std::size_t id_size_max = 255;
/// A header with more is no rotation, it is an attempt to make us work.
constexpr std::size_t signatures_max = 16;

Digest digest_of(const Signed& message, const Secret& secret) {
    std::string signed_text;
    signed_text.reserve(message.id.size() + message.timestamp.size() + message.body.size() + 2);
    signed_text.append(message.id).append(".").append(message.timestamp).append(".").append(message.body);
    return hmac_sha256(secret.bytes(), bytes_of(signed_text));
}

Result<Timestamp> parse_seconds(std::string_view text) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    constexpr std::int64_t last = 253'402'300'799;  // The end of the year 9999.
    if (error != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > last)
        return fail(Fault::rejected, "webhook-timestamp is no number of seconds since 1970");
    return Timestamp(std::chrono::seconds(seconds));
}

}  // namespace

Result<Secret> Secret::parse(std::string_view text) {
    if (text.starts_with(secret_prefix)) text.remove_prefix(secret_prefix.size());
    auto bytes = parse_base64(text);
    if (!bytes || bytes->size() < size_min || bytes->size() > size_max)
        return fail(Fault::rejected, "a webhook secret is \"whsec_\" and base64 of 24 to 64 bytes");
    return Secret(*std::move(bytes));
}

std::string sign(const Signed& message, std::span<const Secret> secrets) {
    std::string signatures;
    for (const Secret& secret : secrets) {
        if (!signatures.empty()) signatures += ' ';
        signatures.append(scheme_prefix).append(base64(digest_of(message, secret)));
    }
    return signatures;
}

Status verify(const Signed& message, std::string_view signatures, std::span<const Secret> secrets, Timestamp now) {
    if (message.id.empty() || message.id.size() > id_size_max)
        return fail(Fault::rejected, "webhook-id is missing or longer than 255 bytes");
    const Timestamp sent = SEMEL_TRY(parse_seconds(message.timestamp));
    if (sent < now - timestamp_tolerance || sent > now + timestamp_tolerance)
        return fail(Fault::rejected, "webhook-timestamp is more than five minutes away from the receiver's clock");
    std::vector<Digest> expected;
    expected.reserve(secrets.size());
    for (const Secret& secret : secrets) expected.push_back(digest_of(message, secret));
    bool fits = false;
    for (std::size_t count = 0; !signatures.empty() && count < signatures_max; ++count) {
        std::string_view signature = signatures.substr(0, signatures.find(' '));
        signatures.remove_prefix(std::min(signatures.size(), signature.size() + 1));
        if (!signature.starts_with(scheme_prefix)) continue;
        const auto given = parse_base64(signature.substr(scheme_prefix.size()));
        if (!given) continue;
        for (const Digest& digest : expected) fits |= equal_in_constant_time(*given, digest);
    }
    if (fits) return {};
    return fail(Fault::rejected, "no signature in webhook-signature fits id, timestamp and body");
}

}  // namespace semel::webhook
