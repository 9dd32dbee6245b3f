#pragma once

#include "semel/webhook/signature.hpp"
#include "tests/orders/http_client.hpp"

#include <string>
#include <string_view>

namespace orders::testing {

inline constexpr std::string_view callback_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// For ServiceOptions::config.
inline constexpr std::string_view callback_config =
    "[callbacks.provisioner]\nsecret = \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"\ntenant = \"public\"\n";

/// A callback as the integration named provisioner sends it.
struct SignedCallback {
    std::string id;
    std::string body;
    semel::Timestamp sent = semel::system_clock().wall();
    std::string_view secret = callback_secret;

    [[nodiscard]] HttpRequest request() const;
};

}  // namespace orders::testing
