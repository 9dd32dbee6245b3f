#include "semel/contract/contracts.hpp"

#include "semel/contract/large_stack.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <locale>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

namespace semel {
namespace {

using nlohmann::json;
using JsonAdapter = valijson::adapters::NlohmannJsonAdapter;

/// "order.created.v2" taken apart.
struct ContractName {
    std::string type;
    int version = 0;
};

std::optional<ContractName> parse_contract_name(std::string_view name) {
    const std::size_t mark = name.rfind(".v");
    if (mark == std::string_view::npos || mark == 0) return std::nullopt;
    const std::string_view digits = name.substr(mark + 2);
    ContractName parsed{.type = std::string(name.substr(0, mark))};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.version);
    if (error != std::errc() || end != digits.data() + digits.size() || parsed.version < 1) return std::nullopt;
    return parsed;
}

/// The validator takes no notice of the format "uuid", so it gets a pattern instead.
json with_uuid_patterns(json schema) {
    if (schema.is_object() && schema.value("format", json()) == "uuid" && !schema.contains("pattern"))
        schema["pattern"] = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
    for (auto& member : schema)
        if (member.is_structured()) member = with_uuid_patterns(std::move(member));
    return schema;
}

/// A pattern of the schema that is none; the validator would say so only once an event comes to it.
std::optional<std::string> wrong_pattern(const json& schema) {
    const auto is_wrong = [](const std::string& pattern) {
        try {
            static_cast<void>(std::regex(pattern));
            return false;
        } catch (const std::regex_error&) {
            return true;
        }
    };
    // Here members are values, and mean nothing.
    static const std::set<std::string, std::less<>> values{"const", "default", "enum", "examples"};
    // Here they are schemas, under names that mean nothing.
    static const std::set<std::string, std::less<>> schemas{"properties", "patternProperties", "definitions", "$defs",
                                                            "dependencies"};
    if (!schema.is_structured()) return std::nullopt;
    for (const auto& [name, member] : schema.items()) {
        if (name == "pattern" && member.is_string() && is_wrong(member.get<std::string>()))
            return member.get<std::string>();
        if (name == "patternProperties" && member.is_object())
            for (const auto& [pattern, unused] : member.items())
                if (is_wrong(pattern)) return pattern;
        if (schema.is_object() && values.contains(name)) continue;
        if (schema.is_object() && schemas.contains(name) && member.is_object()) {
            for (const auto& [unused, one] : member.items())
                if (auto found = wrong_pattern(one)) return found;
            continue;
        }
        if (auto found = wrong_pattern(member)) return found;
    }
    return std::nullopt;
}

/// The library fills a table of characters while patterns are compiled, without a lock; so it is filled ahead of all threads.
void fill_character_table() {
    static const bool filled = [] {
        const auto& characters = std::use_facet<std::ctype<char>>(std::locale());
        char narrowed = 0;
        characters.narrow(&narrowed, &narrowed + 1, '?', &narrowed);
        return characters.widen('a') == 'a';
    }();
    static_cast<void>(filled);
}

Error wrong_contract(std::string_view file, std::string_view why) {
    Error error;
    error.fault = Fault::rejected;
    error.message = fmt::format("the contract {}.json: {}", file, why);
    return error;
}

/// The text of one event's faults, as "<root>[total]: …".
std::string told(valijson::ValidationResults& results) {
    std::string text;
    for (valijson::ValidationResults::Error error; results.popError(error);) {
        if (!text.empty()) text += "; ";
        for (const std::string& step : error.context) text += step;
        text += ": " + error.description;
    }
    return text;
}

/// Of one type, ascending.
using Versions = std::map<int, std::unique_ptr<valijson::Schema>>;

/// By the header of an event, which may hold anything.
Versions::const_iterator version_named(const Versions& versions, const json& name) {
    if (!name.is_number_integer()) return versions.end();
    const auto wide = name.get<std::int64_t>();
    // A number that fits only by being cut off must not name another version.
    return std::in_range<int>(wide) ? versions.find(static_cast<int>(wide)) : versions.end();
}

/// For people: what is no number may be anything, and of any size.
std::string shown_version(const json& name) {
    constexpr std::size_t shown_max = 32;
    if (name.is_string() && name.get_ref<const std::string&>().size() <= shown_max)
        return "\"" + name.get<std::string>() + "\"";
    return name.is_number() ? name.dump() : "(not a number)";
}

/// The validator's patterns take stack for every character, a kilobyte each, and its walk for every level.
constexpr std::size_t text_max = 16 * 1024;
constexpr std::size_t text_for_any_stack = 128;
constexpr int depth_max = 64;

/// The longest text in a value, names included; more than `text_max` if it is nested too deep.
std::size_t longest_text(const json& value, int depth = 0) {
    if (value.is_string()) return value.get_ref<const std::string&>().size();
    if (!value.is_structured()) return 0;
    if (depth == depth_max) return text_max + 1;
    std::size_t longest = 0;
    for (const auto& [name, member] : value.items()) {
        const std::size_t own = value.is_object() ? name.size() : 0;
        longest = std::max({longest, own, longest_text(member, depth + 1)});
    }
    return longest;
}

}  // namespace

struct Contracts::State {
    std::map<std::string, Versions, std::less<>> schemas;  ///< By type.
    std::size_t size = 0;
};

Result<Contracts> Contracts::parse(std::span<const File> files) {
    fill_character_table();
    auto state = std::make_shared<State>();
    for (const auto& [name, text] : files) {
        const auto named = parse_contract_name(name);
        if (!named) return fail(wrong_contract(name, "a contract is named <type>.v<version>.json"));
        const json document = json::parse(text, nullptr, false);
        if (!document.is_object()) return fail(wrong_contract(name, "it is not a JSON object"));
        if (const auto pattern = wrong_pattern(document))
            return fail(wrong_contract(name, fmt::format("`{}` is no regular expression", *pattern)));
        auto schema = std::make_unique<valijson::Schema>();
        try {
            const json readable = with_uuid_patterns(document);
            valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(JsonAdapter(readable), *schema);
        } catch (const std::exception& failed) {
            return fail(wrong_contract(name, failed.what()));
        }
        state->schemas[named->type].insert_or_assign(named->version, std::move(schema));
        ++state->size;
    }
    return Contracts(std::move(state));
}

Result<Contracts> Contracts::load(const std::filesystem::path& folder) {
    std::error_code failed;
    std::vector<std::pair<std::string, std::string>> read;
    std::filesystem::directory_iterator entry(folder, failed);
    for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        const std::filesystem::path& file = entry->path();
        if (file.extension() != ".json") continue;
        std::error_code unknown;
        std::ifstream stream(file, std::ios::binary);
        std::ostringstream text;
        text << stream.rdbuf();
        if (!entry->is_regular_file(unknown) || !stream || text.bad())
            return fail(wrong_contract(file.stem().string(), "it cannot be read"));
        read.emplace_back(file.stem().string(), std::move(text).str());
    }
    if (failed) return fail(Fault::rejected, fmt::format("the contracts in {}: {}", folder.string(), failed.message()));
    if (read.empty())
        return fail(Fault::rejected,
                    fmt::format("there is no contract in {}; each is a file <type>.v<version>.json", folder.string()));
    const std::vector<File> files(read.begin(), read.end());
    return parse(files);
}

std::optional<Breach> Contracts::breach(std::string_view type, std::string_view payload,
                                        std::string_view headers) const {
    const auto versions = state_->schemas.find(type);
    if (versions == state_->schemas.end()) return Breach{.unknown_type = true, .why = "it has none"};
    const auto wrong = [](std::string why) { return Breach{.why = std::move(why)}; };
    auto found = std::prev(versions->second.end());
    const json described = json::parse(headers, nullptr, false);
    if (described.is_object() && described.contains("schemaVersion")) {
        found = version_named(versions->second, described["schemaVersion"]);
        if (found == versions->second.end())
            return wrong("there is none of version " + shown_version(described["schemaVersion"]));
    }
    const json value = json::parse(payload, nullptr, false);
    if (value.is_discarded()) return wrong("the payload is not JSON");
    const std::size_t longest = longest_text(value);
    if (longest > text_max)
        return wrong("it holds a text of more than 16 KiB, or is nested more than 64 deep: too much to check");
    // It remembers the patterns that it has compiled, and is for one thread at a time.
    thread_local valijson::Validator own_validator;
    valijson::Validator& validator = own_validator;
    std::optional<Breach> seen;
    const auto validate = [&] {
        valijson::ValidationResults results;
        try {
            if (!validator.validate(*found->second, JsonAdapter(value), &results)) seen = wrong(told(results));
        } catch (const std::exception& failed) {
            seen = wrong(fmt::format("it could not be checked: {}", failed.what()));
        }
    };
    // Without a thread for it the caller's stack has to do: a good event must not be called wrong.
    if (longest <= text_for_any_stack || !on_large_stack(validate)) validate();
    return seen;
}

Status Contracts::check(std::string_view type, std::string_view payload, std::string_view headers,
                        UnknownTypes unknown) const {
    const auto found = breach(type, payload, headers);
    if (!found || (found->unknown_type && unknown == UnknownTypes::allow)) return {};
    Error error;
    error.fault = Fault::broken;
    error.message = fmt::format("an event `{}` does not keep its contract: {}", type, found->why);
    error.cause.hint = "mend the program that tells it, or write the next version of its contract";
    return fail(std::move(error));
}

std::size_t Contracts::size() const noexcept { return state_->size; }

}  // namespace semel
