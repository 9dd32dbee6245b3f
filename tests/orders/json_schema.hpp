#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>

namespace orders::testing {

/// A JSON Schema, ready to judge. Thread-safe.
class JsonSchema {
public:
    /// `document` holds what `$ref` of `schema` points to. A schema that cannot be read fails the test.
    JsonSchema(const nlohmann::json& document, const nlohmann::json& schema);
    explicit JsonSchema(const nlohmann::json& schema);
    ~JsonSchema();

    /// What is wrong with a value; empty: nothing.
    [[nodiscard]] std::string complaint(const nlohmann::json& value) const;

private:
    struct State;
    std::unique_ptr<const State> state_;
};

/// What a reader of a schema would stumble over: keywords that nobody knows, required members that are not described,
/// objects that may hold anything. Empty: nothing. `where` names the schema.
[[nodiscard]] std::string schema_fault(const nlohmann::json& schema, const std::string& where);

}  // namespace orders::testing
