#pragma once

#include "semel/base/result.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace semel {

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
    /// Every .json file of a folder.
    [[nodiscard]] static Result<Contracts> load(const std::filesystem::path& folder);

    /// Texts of more than 16 KiB and what is nested more than 64 deep are refused: they could not be checked safely.
    /// An Error (`broken`: the program and the contract disagree) says what the payload does wrong, and where.
    [[nodiscard]] Status check(std::string_view type, std::string_view payload, std::string_view headers = "{}") const;

    [[nodiscard]] std::size_t size() const noexcept;

private:
    struct State;
    explicit Contracts(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

}  // namespace semel
