#include "apps/orders/config.hpp"

#include "apps/orders/http/routes.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

namespace orders {
namespace {

using namespace std::chrono_literals;
using semel::Duration;
using semel::Fault;
using semel::Result;
using semel::Status;

constexpr Duration day = 24h;

struct Unit {
    std::string_view name;
    Duration length;
};
constexpr std::array units{Unit{"ms", 1ms}, Unit{"s", 1s}, Unit{"m", 1min}, Unit{"h", 1h}, Unit{"d", day}};
/// Longer than any of them is meant to be, and far from where counting nanoseconds ends.
constexpr std::int64_t unit_count_max = 36'500;

std::string duration_text(Duration length) {
    // The longest unit that divides it.
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
        if (length % unit->length == Duration::zero()) return fmt::format("{}{}", length / unit->length, unit->name);
    }
    return fmt::format("{}ns", length.count());
}

/// One table of the file. Each reader takes a key if it is there; the first mistake is kept, and `done` tells of it.
class Table {
public:
    Table(const std::filesystem::path& file, const toml::table& table, std::string prefix)
        : file_(file), table_(table), prefix_(std::move(prefix)) {}

    void text(std::string_view key, std::string& target) {
        if (const auto value = take<std::string>(key, "a string")) target = *value;
    }

    void path(std::string_view key, std::filesystem::path& target) {
        if (const auto value = take<std::string>(key, "a string")) target = file_.parent_path() / *value;
    }

    void count(std::string_view key, std::size_t& target, std::int64_t least, std::int64_t most) {
        const auto value = take<std::int64_t>(key, fmt::format("a whole number from {} to {}", least, most));
        if (!value) return;
        if (*value < least || *value > most) return wrong(key, fmt::format("is from {} to {}", least, most));
        target = static_cast<std::size_t>(*value);
    }

    void time(std::string_view key, Duration& target, Duration least, Duration most) {
        const std::string rule = fmt::format("a time from \"{}\" to \"{}\"", duration_text(least), duration_text(most));
        const auto value = take<std::string>(key, rule);
        if (!value) return;
        const auto length = parse_duration(*value);
        if (!length) return wrong(key, "is " + rule + ": " + length.error().message);
        if (*length < least || *length > most) return wrong(key, "is " + rule);
        target = *length;
    }

    void profile(std::string_view key, semel::http::Profile& target) {
        const auto value = take<std::string>(key, R"("classic" or "ietf")");
        if (!value) return;
        if (*value != "classic" && *value != "ietf") return wrong(key, R"(is "classic" or "ietf")");
        target = *value == "ietf" ? semel::http::Profile::ietf : semel::http::Profile::classic;
    }

    /// A table within this one; none if it is not there.
    [[nodiscard]] const toml::table* table(std::string_view key) {
        const toml::node* node = find(key);
        if (node != nullptr && !node->is_table())
            wrong(key, fmt::format("is a table, written as [{}{}]", prefix_, key));
        return node == nullptr ? nullptr : node->as_table();
    }

    [[nodiscard]] Status done() {
        for (const auto& [key, node] : table_) {
            if (mistake_ || known_.contains(key.str())) continue;
            mistake_ = fmt::format("{}:{}: nobody knows `{}{}`; allowed here: {}", file_.string(),
                                   node.source().begin.line, prefix_, key.str(), fmt::join(known_, ", "));
        }
        if (!mistake_) return {};
        return semel::fail(Fault::rejected, *mistake_);
    }

private:
    [[nodiscard]] const toml::node* find(std::string_view key) {
        known_.emplace(key);
        return table_.get(key);
    }

    template <class T>
    [[nodiscard]] std::optional<T> take(std::string_view key, std::string_view rule) {
        const toml::node* node = find(key);
        if (node == nullptr) return std::nullopt;
        const auto value = node->value_exact<T>();
        if (!value) wrong(key, fmt::format("is {}", rule));
        return value;
    }

    void wrong(std::string_view key, std::string_view what) {
        if (!mistake_)
            mistake_ = fmt::format("{}:{}: `{}{}` {}", file_.string(), table_.get(key)->source().begin.line, prefix_,
                                   key, what);
    }

    const std::filesystem::path& file_;
    const toml::table& table_;
    std::string prefix_;
    std::set<std::string, std::less<>> known_;
    std::optional<std::string> mistake_;
};

Status read_tls(Table table, Config& config) {
    table.path("certificate", config.tls_certificate);
    table.path("key", config.tls_key);
    return table.done();
}

Status read_limits(Table table, Config& config) {
    table.count("workers", config.workers, 1, 1024);
    table.count("async_workers", config.async_workers, 0, 256);
    table.count("pool", config.pool, 1, 1024);
    table.count("queue", config.queue, 1, 100'000);
    table.count("connections", config.connections, 1, 100'000);
    table.count("body_bytes", config.body_bytes, 1024, std::int64_t{64} << 20U);
    table.count("cache_bytes", config.cache_bytes, 0, std::int64_t{64} << 30U);
    table.time("request_deadline", config.request_deadline, 100ms, 5min);
    return table.done();
}

Status read_retention(const std::filesystem::path& file, Table table, Config& config) {
    table.time("default", config.retention, 1min, 3650 * day);
    table.time("tombstone", config.tombstone, 1min, 3650 * day);
    table.time("pass", config.retention_pass, 1s, day);
    if (const toml::table* of_operation = table.table("operation")) {
        Table inner(file, *of_operation, "retention.operation.");
        for (const std::string_view operation : operations) {
            Duration length = config.retention;
            inner.time(operation, length, 1min, 3650 * day);
            config.retention_of_operation.insert_or_assign(std::string(operation), length);
        }
        SEMEL_TRY(inner.done());
    }
    return table.done();
}

Result<Config> read_tables(const std::filesystem::path& file, const toml::table& root) {
    Config config;
    Table table(file, root, "");
    table.text("database", config.database);
    table.text("listen", config.listen);
    table.profile("profile", config.profile);
    table.path("tokens", config.tokens);
    table.time("drain", config.drain, 100ms, 1h);
    if (const auto* tls = table.table("tls")) SEMEL_TRY(read_tls({file, *tls, "tls."}, config));
    if (const auto* limits = table.table("limits")) SEMEL_TRY(read_limits({file, *limits, "limits."}, config));
    if (const auto* kept = table.table("retention"))
        SEMEL_TRY(read_retention(file, {file, *kept, "retention."}, config));
    SEMEL_TRY(table.done());
    return config;
}

}  // namespace

Duration Config::retention_of(std::string_view operation) const {
    const auto found = retention_of_operation.find(operation);
    return found == retention_of_operation.end() ? retention : found->second;
}

Result<Duration> parse_duration(std::string_view text) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
    const auto unit = std::ranges::find(units, name, &Unit::name);
    if (error != std::errc() || count < 0 || unit == units.end())
        return semel::fail(Fault::rejected, "a time is a whole number and one of ms, s, m, h, d, as in \"30s\"");
    if (count > unit_count_max) return semel::fail(Fault::rejected, "a time has at most 36500 of its unit");
    return count * unit->length;
}

Result<Config> read_config(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        return semel::fail(Fault::rejected, fmt::format("{}: there is no such file", file.string()));
    try {
        const toml::table root = toml::parse_file(file.string());
        return read_tables(file, root);
    } catch (const toml::parse_error& failed) {
        return semel::fail(Fault::rejected, fmt::format("{}:{}: {}", file.string(), failed.source().begin.line,
                                                        std::string_view(failed.description())));
    }
}

}  // namespace orders
