#pragma once

#include "semel/base/digest.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <span>
#include <string>
#include <string_view>

namespace semel::webhook {

// Signatures as the Standard Webhooks specification has them: HMAC-SHA256 over "id.timestamp.body".

inline constexpr std::string_view id_header = "webhook-id";
inline constexpr std::string_view timestamp_header = "webhook-timestamp";
inline constexpr std::string_view signature_header = "webhook-signature";

/// What both sides know and nobody else. Printing it is not possible by accident.
class Secret {
public:
    static constexpr std::size_t size_min = 24;
    static constexpr std::size_t size_max = 64;

    /// "whsec_" and base64 of 24 to 64 bytes; the prefix may be left out.
    [[nodiscard]] static Result<Secret> parse(std::string_view text);
    [[nodiscard]] BytesView bytes() const noexcept { return bytes_; }

private:
    explicit Secret(Bytes bytes) : bytes_(std::move(bytes)) {}
    Bytes bytes_;
};

/// One message as it travels. The id is the same for every attempt to deliver it, the timestamp is the attempt's.
struct Signed {
    std::string_view id;
    std::string_view timestamp;  ///< Seconds since 1970, in decimal.
    std::string_view body;
};

/// "v1,…"; with several secrets, one signature for each, so that a receiver may know the old or the new one.
[[nodiscard]] std::string sign(const Signed& message, std::span<const Secret> secrets);

/// How old or how far ahead a timestamp may be: the time in which a recorded request can be sent again.
inline constexpr Duration timestamp_tolerance = std::chrono::minutes(5);

/// Fine if one of the signatures in the header fits one of the secrets and the timestamp is near `now`; else why not
/// (`rejected`), in words that may be shown to a sender.
[[nodiscard]] Status verify(const Signed& message, std::string_view signatures, std::span<const Secret> secrets,
                            Timestamp now);

}  // namespace semel::webhook
