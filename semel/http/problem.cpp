#include "semel/http/problem.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace semel::http {

Problem Problem::with_status(unsigned other) && {
    status = other;
    return std::move(*this);
}

Problem Problem::with_retry_after(Duration wait) && {
    retry_after = wait;
    return std::move(*this);
}

Problem Problem::with(std::string name, Value value) && {
    extensions.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
}

Problem Problem::with_header(std::string name, std::string value) && {
    headers.add(std::move(name), std::move(value));
    return std::move(*this);
}

Response Problem::to_response(std::string_view correlation_id) const {
    nlohmann::ordered_json members = {{"type", "about:blank"}, {"title", title}, {"status", status}};
    if (!detail.empty()) members["detail"] = detail;
    members["code"] = code;
    members["correlationId"] = correlation_id;
    for (const auto& [name, value] : extensions) {
        std::visit([&members, &key = name](const auto& plain) { members[key] = plain; }, value);
    }
    Response response{.status = status, .headers = headers};
    response.headers.set("Content-Type", "application/problem+json");
    if (retry_after) response.headers.set("Retry-After", format_retry_after(*retry_after));
    response.body = members.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return response;
}

std::string format_retry_after(Duration wait) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);
    return std::to_string(std::max(std::chrono::seconds(1), seconds).count());
}

}  // namespace semel::http
