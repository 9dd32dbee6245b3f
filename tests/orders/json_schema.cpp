#include "tests/orders/json_schema.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <cmath>
#include <set>
#include <string_view>

namespace orders::testing {
namespace {

using nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

/// The validator takes no notice of the format "uuid", so it gets a pattern instead.
json with_patterns(json schema) {
    if (schema.is_object() && schema.value("format", json()) == "uuid" && !schema.contains("pattern"))
        schema["pattern"] = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
    for (auto& member : schema)
        if (member.is_structured()) member = with_patterns(std::move(member));
    return schema;
}

/// 2.0 is the integer 2, for JSON Schema as for us.
json with_whole_numbers(json value) {
    if (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>() &&
        std::abs(value.get<double>()) < 1e15)
        return value.get<std::int64_t>();
    for (auto& member : value)
        if (value.is_structured()) member = with_whole_numbers(std::move(member));
    return value;
}

/// What our schemas are written with; more would be more than the validator knows.
const std::set<std::string_view> keywords{"$id",       "$ref",      "$schema",    "additionalProperties",
                                          "allOf",     "const",     "default",    "description",
                                          "enum",      "format",    "items",      "maximum",
                                          "maxItems",  "maxLength", "minimum",    "minItems",
                                          "minLength", "pattern",   "properties", "required",
                                          "title",     "type",      "x-semel"};

}  // namespace

struct JsonSchema::State {
    valijson::Schema schema;
};

JsonSchema::JsonSchema(const json& document, const json& schema) {
    auto state = std::make_unique<State>();
    // References are looked up from the root, so the root is the document and the schema in one.
    json root = document.is_object() ? document : json::object();
    root["allOf"] = json::array({schema});
    root = with_patterns(std::move(root));
    try {
        valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(root), state->schema);
    } catch (const std::exception& failed) {
        ADD_FAILURE() << "no schema: " << failed.what() << ": " << schema.dump();
    }
    state_ = std::move(state);
}

JsonSchema::JsonSchema(const json& schema) : JsonSchema(json::object(), schema) {}

JsonSchema::~JsonSchema() = default;

std::string JsonSchema::complaint(const json& value) const {
    valijson::ValidationResults results;
    const json plain = with_whole_numbers(value);
    if (valijson::Validator().validate(state_->schema, Adapter(plain), &results)) return {};
    std::string text;
    for (valijson::ValidationResults::Error error; results.popError(error);) {
        for (const std::string& step : error.context) text += step;
        text += ": " + error.description + "\n";
    }
    return text.empty() ? "it is not valid" : text;
}

std::string schema_fault(const json& schema, const std::string& where) {
    if (schema.is_boolean()) return {};
    if (!schema.is_object()) return where + " is no schema";
    for (const auto& [name, value] : schema.items())
        if (!keywords.contains(name)) return where + " has the unknown keyword " + name;
    const json properties = schema.value("properties", json::object());
    for (const auto& name : schema.value("required", json::array()))
        if (!properties.contains(name)) return where + " requires " + name.dump() + " without saying what it is";
    if (schema.value("type", json()) == "object" && schema.value("additionalProperties", json()) != false)
        return where + " does not say that there is nothing else in it";
    for (const auto& [name, value] : properties.items())
        if (auto fault = schema_fault(value, where + "." + name); !fault.empty()) return fault;
    if (schema.contains("items")) return schema_fault(schema["items"], where + "[]");
    return {};
}

}  // namespace orders::testing
