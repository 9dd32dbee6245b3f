#pragma once

#include "semel/base/decimal.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/command_route.hpp"
#include "semel/webhook/signature.hpp"

#include <toml++/toml.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

/// "250ms", "30s", "5m", "24h", "30d".
[[nodiscard]] semel::Result<semel::Duration> parse_duration(std::string_view text);

/// One table of the file. Each reader takes a key if it is there; the first mistake is kept, and `done` tells of it. The
/// file's name and the table must outlive it.
class ConfigTable {
public:
    ConfigTable(const std::filesystem::path& file, const toml::table& table, std::string prefix)
        : file_(file), table_(table), prefix_(std::move(prefix)) {}

    void text(std::string_view key, std::string& target);
    void path(std::string_view key, std::filesystem::path& target);
    void count(std::string_view key, std::size_t& target, std::int64_t least, std::int64_t most);
    void time(std::string_view key, semel::Duration& target, semel::Duration least, semel::Duration most);
    void flag(std::string_view key, bool& target);
    void money(std::string_view key, semel::Decimal& target);
    /// A code of domain/text.hpp.
    void name(std::string_view key, std::string& target);
    /// One secret, or several in a list. None of them is ever repeated to anyone, not even one that is malformed.
    void secrets(std::string_view key, std::vector<semel::webhook::Secret>& target);
    void profile(std::string_view key, semel::http::Profile& target);
    /// What has no default.
    void require(std::string_view key, bool given);
    /// What must hold between several.
    void demand(std::string_view key, bool holds, std::string_view what);

    /// A table within this one; none if it is not there.
    [[nodiscard]] const toml::table* table(std::string_view key);

    /// Once all was read: the first mistake, or a key that nobody asked for.
    [[nodiscard]] semel::Status done();

private:
    [[nodiscard]] const toml::node* find(std::string_view key);
    template <class T>
    [[nodiscard]] std::optional<T> take(std::string_view key, std::string_view rule);
    void wrong(std::string_view key, std::string_view what);

    const std::filesystem::path& file_;
    const toml::table& table_;
    std::string prefix_;
    std::set<std::string, std::less<>> known_;
    std::optional<std::string> mistake_;
};

}  // namespace orders
