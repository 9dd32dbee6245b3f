#include "apps/orders/http/openapi.hpp"

#include "apps/orders/http/etag.hpp"
#include "apps/orders/http/openapi_problems.hpp"
#include "apps/orders/http/schemas.hpp"
#include "semel/base/digest.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace orders {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view prefix = "/api/v1/";

bool is_schema(std::string_view name) {
    return std::ranges::any_of(schemas(), [&](const auto& entry) { return entry.first == name; });
}

Json ref(std::string_view name) {
    SEMEL_ASSERT(is_schema(name));
    return {{"$ref", fmt::format("#/components/schemas/{}", name)}};
}

/// Whether there is a member that must be there; otherwise a body may be left out.
bool has_required_members(std::string_view name) {
    const auto entry = std::ranges::find(schemas(), name, [](const auto& one) { return one.first; });
    SEMEL_ASSERT(entry != schemas().end());
    return !Json::parse(entry->second).value("required", Json::array()).empty();
}

Json text_schema() { return {{"type", "string"}}; }

Json parameter(std::string_view in, std::string_view name, std::string_view description, bool required, Json schema) {
    Json made{{"name", name}, {"in", in}, {"description", description}};
    if (required) made["required"] = true;
    made["schema"] = std::move(schema);
    return made;
}

/// A header field that is always there.
Json header(std::string_view description) {
    return {{"description", description}, {"required", true}, {"schema", text_schema()}};
}
/// One that is there now and then.
Json header_at_times(std::string_view description) { return {{"description", description}, {"schema", text_schema()}}; }

Json content(std::string_view type, Json schema) { return {{type, {{"schema", std::move(schema)}}}}; }

/// `{id}` and its like, in their order.
void add_variables(Json& parameters, std::string_view path, std::string_view pattern) {
    for (auto open = path.find('{'); open != std::string_view::npos; open = path.find('{', open + 1)) {
        const std::string_view name = path.substr(open + 1, path.find('}', open) - open - 1);
        Json schema = text_schema();
        if (pattern.empty())
            schema["format"] = "uuid";
        else
            schema["pattern"] = pattern;
        parameters.push_back(parameter("path", name, "Which one.", true, std::move(schema)));
    }
}

Json problem_response(unsigned status, const std::vector<std::string_view>& codes) {
    Json response{{"description", fmt::format("{}", fmt::join(codes, ", "))}};
    if (status == 401) response["headers"]["WWW-Authenticate"] = header_at_times("How to say who asks.");
    if (status == 503)
        response["headers"]["Retry-After"] = header_at_times("How many seconds to wait before the next attempt.");
    response["content"] =
        content("application/problem+json",
                {{"allOf", Json::array({ref("Problem"), {{"properties", {{"code", {{"enum", codes}}}}}}})}});
    return response;
}

/// What is the same for every route stands once, under components.
void add_problems(Json& responses, const ProblemCodes& codes) {
    static const ProblemCodes of_every_request = problems_of_every_request();
    for (const auto& [status, list] : codes) {
        const auto common = of_every_request.find(status);
        if (common != of_every_request.end() && common->second == list)
            responses[std::to_string(status)] = {{"$ref", fmt::format("#/components/responses/Problem{}", status)}};
        else
            responses[std::to_string(status)] = problem_response(status, list);
    }
}

/// "quotes.items" of "/api/v1/quotes/{id}/items/{item}".
std::string words_of(std::string_view path) {
    path.remove_prefix(std::min(path.size(), prefix.size()));
    std::string words;
    while (!path.empty()) {
        const std::string_view segment = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), segment.size() + 1));
        if (!segment.starts_with('{')) words += (words.empty() ? "" : ".") + std::string(segment);
    }
    std::ranges::replace(words, '-', '_');
    return words;
}

std::string tag_of(std::string_view path) {
    path.remove_prefix(std::min(path.size(), prefix.size()));
    return std::string(path.substr(0, path.find('/')));
}

Json etag_header(std::string_view kind) {
    return header(fmt::format("The version, for If-Match and If-None-Match, as in `{}`.", etag_of(kind, 7)));
}

Json parameters_of(const CommandEntry& entry) {
    Json parameters = Json::array();
    add_variables(parameters, entry.path, entry.variables);
    if (entry.keyed)
        parameters.push_back(parameter("header", "Idempotency-Key",
                                       "New for each thing that you want done, the same for each repeat of it.", true,
                                       {{"type", "string"}, {"minLength", 1}, {"maxLength", 255}}));
    if (!entry.guarded.empty())
        parameters.push_back(
            parameter("header", "If-Match",
                      fmt::format("The ETag of the version that you have seen, as in `{}`.", etag_of(entry.guarded, 7)),
                      true, text_schema()));
    for (const FieldEntry& field : entry.headers)
        parameters.push_back(parameter("header", field.name, field.description, true, text_schema()));
    if (entry.may_be_async)
        parameters.push_back(parameter("header", "Prefer", "`respond-async`: answer 202 at once, and execute it later.",
                                       false, text_schema()));
    return parameters;
}

Json success_of(const CommandEntry& entry) {
    Json response{{"description", "Done, or done before: then with `Idempotency-Replayed`."}};
    const std::string_view etag = entry.etag.empty() ? entry.guarded : entry.etag;
    if (!etag.empty()) response["headers"]["ETag"] = etag_header(etag);
    if (entry.status == 201) response["headers"]["Location"] = header("Where it is.");
    response["headers"]["Idempotency-Replayed"] =
        header_at_times("`true`: this is the reply of an earlier request with this key.");
    response["content"] = content("application/json", ref(entry.reply));
    return response;
}

Json operation_of(const CommandEntry& entry) {
    Json operation{{"operationId", entry.operation}, {"summary", entry.summary}, {"tags", {tag_of(entry.path)}}};
    operation["parameters"] = parameters_of(entry);
    if (!entry.request.empty())
        operation["requestBody"] = {{"required", has_required_members(entry.request)},
                                    {"content", content("application/json", ref(entry.request))}};
    Json& responses = operation["responses"];
    responses[std::to_string(entry.status)] = success_of(entry);
    if (entry.may_exist) {
        Json existing = success_of(entry);
        existing["description"] = "It is there already, and this is it.";
        existing["headers"].erase("Location");
        existing["headers"]["Content-Location"] = header("Where it is.");
        responses["200"] = std::move(existing);
    }
    if (entry.may_be_async)
        responses["202"] = {{"description", "Stored, and not yet executed."},
                            {"headers", {{"Location", header("Where to see what becomes of it.")}}},
                            {"content", content("application/json", ref("AcceptedCommand"))}};
    add_problems(responses, problems_of(entry));
    return operation;
}

Json page_of(std::string_view name) {
    return {
        {"type", "object"},
        {"properties",
         {{"items", {{"type", "array"}, {"items", ref(name)}}},
          {"nextCursor", {{"type", "string"}, {"description", "For `cursor`; without it this is the last page."}}}}},
        {"required", {"items"}},
        {"additionalProperties", false}};
}

Json parameters_of(const ReadEntry& entry) {
    Json parameters = Json::array();
    add_variables(parameters, entry.path, entry.variables);
    for (const FilterEntry& filter : entry.filters)
        parameters.push_back(parameter("query", filter.name, filter.description, filter.required, text_schema()));
    if (entry.is_collection) {
        parameters.push_back(parameter(
            "query", "limit", "At most so many.", false,
            {{"type", "integer"}, {"minimum", 1}, {"maximum", page_limit_max}, {"default", page_limit_default}}));
        parameters.push_back(
            parameter("query", "cursor", "The `nextCursor` of the page before.", false, text_schema()));
    }
    if (!entry.etag.empty())
        parameters.push_back(
            parameter("header", "If-None-Match", "The ETag of what you have already.", false, text_schema()));
    return parameters;
}

Json operation_of(const ReadEntry& entry) {
    Json operation{{"operationId", words_of(entry.path) + (entry.is_collection ? ".list" : ".get")},
                   {"summary", entry.summary},
                   {"tags", {tag_of(entry.path)}}};
    operation["parameters"] = parameters_of(entry);
    Json found{{"description", "As it is now."}};
    if (!entry.etag.empty()) found["headers"]["ETag"] = etag_header(entry.etag);
    found["content"] = content("application/json", entry.is_collection ? page_of(entry.reply) : ref(entry.reply));
    Json& responses = operation["responses"];
    responses["200"] = std::move(found);
    if (!entry.etag.empty())
        responses["304"] = {{"description", "It is what If-None-Match names."},
                            {"headers", {{"ETag", etag_header(entry.etag)}}}};
    add_problems(responses, problems_of(entry));
    return operation;
}

Json operation_of(const MessageEntry& entry) {
    Json operation{{"operationId", entry.operation}, {"summary", entry.summary}, {"tags", {tag_of(entry.path)}}};
    operation["parameters"] = Json::array();
    for (const FieldEntry& field : entry.headers)
        operation["parameters"].push_back(
            parameter("header", field.name, field.description, field.required, text_schema()));
    // What a message of a type looks like is said by the contract of that type, not by the route.
    operation["requestBody"] = {{"required", false}, {"content", {{"*/*", Json::object()}}}};
    Json& responses = operation["responses"];
    responses["204"] = {{"description", "It is done with: send it no more."}};
    add_problems(responses, problems_of(entry));
    return operation;
}

Json components(std::span<const StatesEntry> states) {
    Json all;
    for (const auto& [name, text] : schemas()) all["schemas"][name] = Json::parse(text);
    for (const StatesEntry& entry : states)
        all["schemas"][entry.name] = {{"type", "string"}, {"enum", entry.states}, {"description", entry.description}};
    for (const auto& [status, codes] : problems_of_every_request())
        all["responses"]["Problem" + std::to_string(status)] = problem_response(status, codes);
    all["securitySchemes"]["bearer"] = {{"type", "http"}, {"scheme", "bearer"}};
    return all;
}

}  // namespace

std::string openapi_document(const DescribedApi& described) {
    Json document{{"openapi", "3.1.0"},
                  {"info",
                   {{"title", "Semel Orders"},
                    {"version", SEMEL_VERSION},
                    {"description",
                     "Quotes, orders and what belongs to them. Whatever changes something takes an Idempotency-Key and "
                     "may be repeated at any time; it happens once."}}}};
    // Without tokens, on loopback, nobody is asked who they are.
    document["security"] = Json::array({{{"bearer", Json::array()}}, Json::object()});
    Json& paths = document["paths"];
    for (const CommandEntry& entry : described.commands) paths[std::string(entry.path)]["post"] = operation_of(entry);
    for (const MessageEntry& entry : described.messages) paths[std::string(entry.path)]["post"] = operation_of(entry);
    for (const ReadEntry& entry : described.reads) paths[std::string(entry.path)]["get"] = operation_of(entry);
    document["components"] = components(described.states);
    return document.dump();
}

semel::http::Route openapi_route(std::string document) {
    const std::string etag = "\"" + semel::hex(semel::sha256(semel::bytes_of(document))).substr(0, 32) + "\"";
    const auto body = std::make_shared<const std::string>(std::move(document));
    const auto answer = [etag, body](const semel::http::Request& request) -> std::optional<semel::http::Response> {
        semel::http::Response response;
        response.headers.set("ETag", etag);
        response.headers.set("Cache-Control", "public, max-age=60");
        if (is_unchanged(request, etag)) {
            response.status = 304;
            return response;
        }
        response.headers.set("Content-Type", "application/json");
        response.shared_body = body;
        return response;
    };
    return {.at_once = answer, .open = true};
}

}  // namespace orders
