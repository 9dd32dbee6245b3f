#pragma once

#include "semel/base/result.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel {

/// What is wrong with an event.
struct Breach {
    bool unknown_type = false;  ///< There is no contract of its type, in any version.
    std::string why;            ///< For people: what is wrong and where, as "<root>[total]: …".
};

/// What becomes of events whose type has no contract.
enum class UnknownTypes : unsigned char {
    refuse,
    allow,  ///< They pass unchecked: of someone who has contracts for some types and not yet for others.
};

/// What the payloads of events have to look like: one JSON Schema for each type and version of event, in files that are
/// named `<type>.v<version>.json`. Thread-safe; copies share what they hold.
///
/// An event names its version by the header `schemaVersion`; one that names none means the newest.
class Contracts {
public:
    /// A name without ".json", and the text.
    using File = std::pair<std::string_view, std::string_view>;

    /// An Error (`rejected`) names the file and what is wrong with it.
    [[nodiscard]] static Result<Contracts> parse(std::span<const File> files);
    /// Every .json file of a folder; one that holds none is an Error (`rejected`) too.
    [[nodiscard]] static Result<Contracts> load(const std::filesystem::path& folder);

    /// What is wrong with an event; nothing if it keeps its contract. Texts of more than 16 KiB and what is nested more
    /// than 64 deep are wrong: they could not be checked safely.
    [[nodiscard]] std::optional<Breach> breach(std::string_view type, std::string_view payload,
                                               std::string_view headers = "{}") const;
    /// The same as an Error (`broken`: the program and the contract disagree).
    [[nodiscard]] Status check(std::string_view type, std::string_view payload, std::string_view headers = "{}",
                               UnknownTypes unknown = UnknownTypes::refuse) const;

    [[nodiscard]] std::size_t size() const noexcept;

private:
    struct State;
    explicit Contracts(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

}  // namespace semel
