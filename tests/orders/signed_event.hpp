#pragma once

#include "semel/webhook/signature.hpp"
#include "tests/orders/http_client.hpp"

#include <string>
#include <string_view>

namespace orders::testing {

inline constexpr std::string_view event_secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// For ServiceOptions::config.
inline constexpr std::string_view consume_config =
    "[consume]\nwebhook = true\nsecret = \"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\"\n";

/// A message as a relay sends it: a CloudEvent in binary mode, with what Standard Webhooks asks for.
struct SignedEvent {
    std::string id;
    std::string type;
    std::string payload;
    std::string tenant = "public";  ///< Empty: it does not say.
    std::string subject{};          ///< Empty: none.
    semel::Timestamp sent = semel::system_clock().wall();
    std::string_view secret = event_secret;

    [[nodiscard]] HttpRequest request() const;
    /// The same in structured mode: everything is in the body, and so it is signed.
    [[nodiscard]] HttpRequest structured() const;
};

}  // namespace orders::testing
