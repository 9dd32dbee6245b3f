#include "tests/orders/openapi_faults.hpp"

#include "tests/orders/json_schema.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <set>

namespace orders::testing {
namespace {

using nlohmann::json;

/// The shape of the document, as far as ours goes; what lies deeper is looked at below.
const json document_schema = json::parse(R"({
  "type": "object",
  "required": ["openapi", "info", "paths", "components"],
  "properties": {
    "openapi": {"type": "string", "pattern": "^3\\.1\\.[0-9]+$"},
    "info": {"type": "object", "required": ["title", "version"],
             "properties": {"title": {"type": "string", "minLength": 1}, "version": {"type": "string", "minLength": 1}}},
    "security": {"type": "array"},
    "paths": {"type": "object"},
    "components": {"type": "object", "required": ["schemas", "responses", "securitySchemes"]}
  },
  "additionalProperties": false
})");

const json operation_schema = json::parse(R"({
  "type": "object",
  "required": ["operationId", "summary", "tags", "parameters", "responses"],
  "properties": {
    "operationId": {"type": "string", "pattern": "^[a-z_]+(\\.[a-z_]+)+$"},
    "summary": {"type": "string", "minLength": 1},
    "tags": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
    "parameters": {"type": "array", "items": {
      "type": "object",
      "required": ["name", "in", "description", "schema"],
      "properties": {
        "name": {"type": "string", "minLength": 1}, "in": {"enum": ["path", "query", "header"]},
        "description": {"type": "string", "minLength": 1}, "required": {"type": "boolean"}, "schema": {"type": "object"}
      },
      "additionalProperties": false}},
    "requestBody": {"type": "object", "required": ["content"],
                    "properties": {"required": {"type": "boolean"}, "content": {"type": "object"}},
                    "additionalProperties": false},
    "responses": {"type": "object"}
  },
  "additionalProperties": false
})");

void each_object(const json& value, const std::function<void(const json&)>& look) {
    if (value.is_object()) look(value);
    if (value.is_structured())
        for (const json& member : value) each_object(member, look);
}

std::set<std::string> variables_of(const std::string& path) {
    std::set<std::string> names;
    for (auto open = path.find('{'); open != std::string::npos; open = path.find('{', open + 1))
        names.insert(path.substr(open + 1, path.find('}', open) - open - 1));
    return names;
}

void check_operation(const std::string& path, const std::string& name, const json& operation,
                     std::vector<std::string>& faults) {
    static const JsonSchema shape(operation_schema);
    if (const auto wrong = shape.complaint(operation); !wrong.empty()) {
        faults.push_back(name + ": " + wrong);
        return;
    }
    std::set<std::string> declared;
    std::set<std::string> all;
    for (const json& parameter : operation["parameters"]) {
        if (parameter["in"] == "path") declared.insert(parameter["name"].get<std::string>());
        if (!all.insert(parameter["in"].get<std::string>() + parameter["name"].get<std::string>()).second)
            faults.push_back(name + " declares " + parameter["name"].dump() + " twice");
    }
    if (declared != variables_of(path)) faults.push_back(name + " declares other variables than its path has");
    bool succeeds = false;
    for (const auto& [status, response] : operation["responses"].items()) {
        succeeds = succeeds || status.starts_with('2');
        if (!response.contains("$ref") && response.value("description", "").empty())
            faults.push_back(name + " does not say what " + status + " means");
    }
    if (!succeeds) faults.push_back(name + " cannot succeed");
}

void check_references(const json& document, std::vector<std::string>& faults) {
    std::set<std::string> used;
    each_object(document, [&](const json& object) {
        if (!object.contains("$ref")) return;
        const auto target = object["$ref"].get<std::string>();
        if (!target.starts_with("#/") || !document.contains(json::json_pointer(target.substr(1))))
            faults.push_back(target + " leads nowhere");
        used.insert(target);
    });
    for (const auto& [name, schema] : document["components"]["schemas"].items()) {
        if (!used.contains("#/components/schemas/" + name)) faults.push_back("nobody uses the schema " + name);
        if (auto fault = schema_fault(schema, name); !fault.empty()) faults.push_back(std::move(fault));
    }
}

}  // namespace

std::vector<std::string> faults_of(const json& document) {
    static const JsonSchema shape(document_schema);
    if (auto wrong = shape.complaint(document); !wrong.empty()) return {std::move(wrong)};
    std::vector<std::string> faults;
    std::set<std::string> ids;
    for (const auto& [path, methods] : document["paths"].items()) {
        for (const auto& [method, operation] : methods.items()) {
            check_operation(path, method + " " + path, operation, faults);
            if (!ids.insert(operation.value("operationId", "")).second)
                faults.push_back(operation.value("operationId", "") + " is the id of two operations");
        }
    }
    check_references(document, faults);
    return faults;
}

}  // namespace orders::testing
