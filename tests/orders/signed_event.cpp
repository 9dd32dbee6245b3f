#include "tests/orders/signed_event.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace orders::testing {
namespace {

HttpRequest signed_post(const SignedEvent& event, const std::string& media_type, const std::string& body) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(event.sent.time_since_epoch()).count();
    const std::string timestamp = std::to_string(seconds);
    const std::array secrets{semel::webhook::Secret::parse(event.secret).value()};
    return {.method = "POST",
            .target = "/api/v1/events",
            .headers = {{"Content-Type", media_type},
                        {std::string(semel::webhook::id_header), event.id},
                        {std::string(semel::webhook::timestamp_header), timestamp},
                        {std::string(semel::webhook::signature_header),
                         semel::webhook::sign({.id = event.id, .timestamp = timestamp, .body = body}, secrets)}},
            .body = body};
}

}  // namespace

HttpRequest SignedEvent::request() const {
    HttpRequest request = signed_post(*this, "application/json", payload);
    request.headers.insert(request.headers.end(),
                           {{"ce-specversion", "1.0"}, {"ce-id", id}, {"ce-source", "/test"}, {"ce-type", type}});
    if (!tenant.empty()) request.headers.emplace_back("ce-tenant", tenant);
    if (!subject.empty()) request.headers.emplace_back("ce-subject", subject);
    return request;
}

HttpRequest SignedEvent::structured() const {
    nlohmann::ordered_json body{{"specversion", "1.0"}, {"id", id}, {"source", "/test"}, {"type", type}};
    if (!tenant.empty()) body["tenant"] = tenant;
    if (!subject.empty()) body["subject"] = subject;
    body["data"] = nlohmann::ordered_json::parse(payload);
    return signed_post(*this, "application/cloudevents+json", body.dump());
}

}  // namespace orders::testing
