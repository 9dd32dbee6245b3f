#include "tests/orders/signed_callback.hpp"

#include <array>

namespace orders::testing {

HttpRequest SignedCallback::request() const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(sent.time_since_epoch()).count();
    const std::string timestamp = std::to_string(seconds);
    const std::array secrets{semel::webhook::Secret::parse(secret).value()};
    return {.method = "POST",
            .target = "/api/v1/callbacks/provisioner",
            .headers = {{"Content-Type", "application/json"},
                        {std::string(semel::webhook::id_header), id},
                        {std::string(semel::webhook::timestamp_header), timestamp},
                        {std::string(semel::webhook::signature_header),
                         semel::webhook::sign({.id = id, .timestamp = timestamp, .body = body}, secrets)}},
            .body = body};
}

}  // namespace orders::testing
