#include "tests/orders/openapi_check.hpp"

#include "tests/orders/json_schema.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace orders::testing {
namespace {

using nlohmann::json;

std::vector<std::string> segments_of(std::string_view path) {
    std::vector<std::string> segments;
    for (std::size_t at = 1; at <= path.size();) {
        const std::size_t end = std::min(path.size(), path.find('/', at));
        segments.emplace_back(path.substr(at, end - at));
        at = end + 1;
    }
    return segments;
}

bool is_variable(const std::string& segment) { return segment.starts_with('{'); }

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
    return std::ranges::equal(pattern, path,
                              [](const auto& one, const auto& other) { return is_variable(one) || one == other; });
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

std::set<std::string> query_of(std::string_view target) {
    std::set<std::string> names;
    for (auto at = target.find('?'); at != std::string_view::npos; at = target.find('&', at + 1))
        names.emplace(target.substr(at + 1, target.find_first_of("=&", at + 1) - at - 1));
    return names;
}

bool has_header(const HttpRequest& request, const std::string& name) {
    HttpResponse fields;
    fields.headers = request.headers;
    return fields.header(name).has_value();
}

DescribedRoute described(const std::string& method, const std::string& path, const json& operation) {
    DescribedRoute route{.method = method, .path = path, .operation_id = operation.value("operationId", "")};
    for (const json& parameter : operation.value("parameters", json::array())) {
        const std::string name = parameter.value("name", "");
        const std::string in = parameter.value("in", "");
        if (in == "path") route.has_ids = parameter["schema"].value("format", "") == "uuid";
        if (name == "Idempotency-Key") route.is_keyed = true;
        if (name == "If-Match") route.is_guarded = true;
        if (name == "cursor") route.is_collection = true;
        if (in == "query" && name != "cursor" && name != "limit") route.filters.push_back(name);
    }
    route.takes_body = operation.contains("requestBody");
    const json responses = operation.value("responses", json::object());
    for (const auto& [status, response] : responses.items())
        if (status < "400") route.successes.insert(std::stoi(status));
    return route;
}

}  // namespace

std::string DescribedRoute::path_with(const std::string& value) const {
    std::string made;
    for (const std::string& segment : segments_of(path)) made += "/" + (is_variable(segment) ? value : segment);
    return made;
}

struct OpenApiCheck::State {
    struct Known {
        DescribedRoute route;
        std::vector<std::string> segments;
        json operation;
    };

    json document;
    std::vector<DescribedRoute> routes;
    std::vector<Known> known;
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<JsonSchema>> schemas;  ///< By their text, made when they are needed.
    std::set<std::string> seen;

    [[nodiscard]] const json& resolved(const json& object) const {
        if (!object.contains("$ref")) return object;
        return document.at(json::json_pointer(object["$ref"].get<std::string>().substr(1)));
    }

    [[nodiscard]] std::string judge(const json& schema, const std::string& body) {
        const json value = json::parse(body, nullptr, false);
        if (value.is_discarded()) return "the body is no JSON";
        JsonSchema* judge = nullptr;
        {
            const std::lock_guard lock(mutex);
            auto& made = schemas[schema.dump()];
            if (!made) made = std::make_unique<JsonSchema>(json{{"components", document["components"]}}, schema);
            judge = made.get();
        }
        return judge->complaint(value);
    }

    /// The route of a request; a literal segment goes before a variable.
    [[nodiscard]] const Known* find(const std::string& method, std::string_view path) const {
        const Known* best = nullptr;
        const auto asked = segments_of(path);
        for (const Known& one : known) {
            if (one.route.method != (method == "HEAD" ? "GET" : method) || !matches(one.segments, asked)) continue;
            if (best == nullptr ||
                std::ranges::count_if(one.segments, is_variable) < std::ranges::count_if(best->segments, is_variable))
                best = &one;
        }
        return best;
    }

    [[nodiscard]] std::string of_request(const Known& known_route, const HttpRequest& request) {
        const json& operation = known_route.operation;
        std::set<std::string> parameters;
        for (const json& parameter : operation["parameters"]) {
            const std::string name = parameter["name"];
            const std::string in = parameter["in"];
            if (in == "query") parameters.insert(name);
            const bool given =
                in == "path" || (in == "header" ? has_header(request, name) : query_of(request.target).contains(name));
            if (parameter.value("required", false) && !given) return "it succeeded without " + name;
        }
        for (const std::string& name : query_of(request.target))
            if (!parameters.contains(name)) return "it succeeded with the undeclared parameter " + name;
        if (request.method != "POST") return {};
        if (!operation.contains("requestBody"))
            return request.body.empty() || json::parse(request.body, nullptr, false) == json::object()
                       ? ""
                       : "it succeeded with a body of which the document does not tell";
        const json& body = operation["requestBody"];
        if (request.body.empty() && !body.value("required", false)) return {};
        // Whatever it is: the document leaves it open.
        if (body["content"].contains("*/*")) return {};
        const std::string wrong = judge(body["content"]["application/json"]["schema"], request.body);
        return wrong.empty() ? "" : "it succeeded with a body that the document forbids: " + wrong;
    }

    [[nodiscard]] std::string of_response(const json& described_response, const HttpResponse& response, bool head) {
        const json headers = described_response.value("headers", json::object());
        for (const auto& [name, header] : headers.items())
            if (header.value("required", false) && !response.header(name)) return "the field " + name + " is missing";
        const json content = described_response.value("content", json::object());
        if (content.empty()) return response.body.empty() ? "" : "there is a body, and none is declared";
        const std::string type = response.header("Content-Type").value_or("");
        if (!content.contains(type)) return "the type " + type + " is not declared";
        if (head) return {};
        if (const std::string wrong = judge(content[type]["schema"], response.body); !wrong.empty()) return wrong;
        if (type == "application/problem+json" && response.member("status") != std::to_string(response.status))
            return "the problem tells of another status";
        return {};
    }

    /// What is answered where there is no such route.
    [[nodiscard]] std::string elsewhere(const HttpRequest& request, const HttpResponse& response) {
        if (!request.target.starts_with("/api/v1/")) return {};
        if (response.status < 400 || response.status >= 500) return "no such route is declared";
        return judge({{"$ref", "#/components/schemas/Problem"}}, response.body);
    }
};

OpenApiCheck::OpenApiCheck(const std::string& document) : state_(std::make_unique<State>()) {
    state_->document = json::parse(document, nullptr, false);
    if (!state_->document.is_object()) return;
    const json paths = state_->document.value("paths", json::object());
    for (const auto& [path, methods] : paths.items()) {
        for (const auto& [method, operation] : methods.items()) {
            std::string name = method;
            std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
            DescribedRoute route = described(name, path, operation);
            state_->routes.push_back(route);
            state_->known.push_back({std::move(route), segments_of(path), operation});
        }
    }
}

OpenApiCheck::~OpenApiCheck() = default;

std::shared_ptr<OpenApiCheck> OpenApiCheck::of_service(int port) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<OpenApiCheck>> all;
    const auto answered = call(port, {.target = "/openapi.json"});
    EXPECT_TRUE(answered) << answered.error().describe();
    if (!answered) return nullptr;
    EXPECT_EQ(answered->status, 200) << answered->body;
    const std::lock_guard lock(mutex);
    auto& checker = all[answered->body];
    if (!checker) checker = std::make_shared<OpenApiCheck>(answered->body);
    return checker;
}

std::string OpenApiCheck::complaint(const HttpRequest& request, const HttpResponse& response) {
    const auto* known = state_->find(request.method, path_of(request.target));
    if (known == nullptr) return state_->elsewhere(request, response);
    const std::string status = std::to_string(response.status);
    const json& responses = known->operation["responses"];
    if (!responses.contains(status)) return "the status " + status + " is not declared";
    if (auto wrong = state_->of_response(state_->resolved(responses[status]), response, request.method == "HEAD");
        !wrong.empty())
        return wrong;
    if (response.status >= 400) return {};
    {
        const std::lock_guard lock(state_->mutex);
        state_->seen.insert(known->route.method + " " + known->route.path + " " + status);
    }
    // A repeat is answered before anyone looks at what else it holds.
    if (response.header("Idempotency-Replayed")) return {};
    return state_->of_request(*known, request);
}

const std::vector<DescribedRoute>& OpenApiCheck::routes() const noexcept { return state_->routes; }

std::vector<std::string> OpenApiCheck::unseen_successes() const {
    const std::lock_guard lock(state_->mutex);
    std::vector<std::string> unseen;
    for (const DescribedRoute& route : state_->routes) {
        for (const int status : route.successes) {
            std::string name = route.method + " " + route.path + " " + std::to_string(status);
            if (!state_->seen.contains(name)) unseen.push_back(std::move(name));
        }
    }
    return unseen;
}

void OpenApiCheck::forget() {
    const std::lock_guard lock(state_->mutex);
    state_->seen.clear();
}

}  // namespace orders::testing
