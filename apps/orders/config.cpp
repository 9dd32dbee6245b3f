#include "apps/orders/config.hpp"

#include "apps/orders/config_table.hpp"
#include "apps/orders/domain/text.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

namespace orders {
namespace {

using namespace std::chrono_literals;
using semel::Duration;
using semel::Fault;
using semel::Result;
using semel::Status;

constexpr Duration day = 24h;

Status read_tls(ConfigTable table, Config& config) {
    table.path("certificate", config.tls_certificate);
    table.path("key", config.tls_key);
    return table.done();
}

Status read_limits(ConfigTable table, Config& config) {
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

Status read_retention(const std::filesystem::path& file, ConfigTable table, Config& config) {
    table.time("default", config.retention, 1min, 3650 * day);
    table.time("tombstone", config.tombstone, 1min, 3650 * day);
    table.time("pass", config.retention_pass, 1s, day);
    if (const toml::table* of_operation = table.table("operation")) {
        ConfigTable inner(file, *of_operation, "retention.operation.");
        for (const auto& [key, node] : *of_operation) {
            OperationRetention kept{.where = fmt::format("{}:{}", file.string(), node.source().begin.line)};
            inner.time(key.str(), kept.length, 1min, 3650 * day);
            config.retention_of_operation.insert_or_assign(std::string(key.str()), kept);
        }
        SEMEL_TRY(inner.done());
    }
    return table.done();
}

Status read_quotes(ConfigTable table, Config& config) {
    table.money("approval_from", config.quotes.approval_from);
    table.money("second_approval_from", config.quotes.second_approval_from);
    table.time("validity", config.quotes.validity, 1s, 3650 * day);
    table.time("expiry_pass", config.expiry_pass, 100ms, day);
    table.demand("second_approval_from", config.quotes.second_approval_from >= config.quotes.approval_from,
                 "is not less than `approval_from`");
    return table.done();
}

using Secrets = std::vector<semel::webhook::Secret>;

bool share_a_secret(const Secrets& one, const Secrets& other) {
    return std::ranges::any_of(one, [&](const semel::webhook::Secret& mine) {
        return std::ranges::any_of(other, [&](const semel::webhook::Secret& theirs) {
            return std::ranges::equal(mine.bytes(), theirs.bytes());
        });
    });
}

Status read_integration(ConfigTable table, Integration integration, Config& config) {
    table.name("tenant", integration.tenant);
    table.secrets("secret", integration.secrets);
    table.require("tenant", !integration.tenant.empty());
    table.require("secret", !integration.secrets.empty());
    for (const Integration& other : config.integrations)
        table.demand("secret", !share_a_secret(integration.secrets, other.secrets),
                     "is also a secret of another integration: what is signed for one could be given to the other");
    SEMEL_TRY(table.done());
    config.integrations.push_back(std::move(integration));
    return {};
}

Status read_callbacks(const std::filesystem::path& file, const toml::table& callbacks, Config& config) {
    ConfigTable table(file, callbacks, "callbacks.");
    for (const auto& [key, node] : callbacks) {
        const std::string name(key.str());
        if (!is_code(name))
            return semel::fail(Fault::rejected, fmt::format("{}:{}: the name of an integration is 1 to 64 letters, "
                                                            "digits, dots, underscores, colons or hyphens",
                                                            file.string(), node.source().begin.line));
        if (const toml::table* one = table.table(name))
            SEMEL_TRY(read_integration({file, *one, "callbacks." + name + "."},
                                       {.name = name, .tenant = {}, .secrets = {}}, config));
    }
    return table.done();
}

Status read_relay(ConfigTable table, Config& config) {
    table.text("to", config.relay.to);
    table.flag("allow_private", config.relay.allow_private);
    table.secrets("secret", config.relay.secrets);
    table.time("lease", config.relay.lease, 3s, 1h);
    table.path("contracts", config.relay.contracts);
    table.flag("allow_unknown_types", config.relay.allow_unknown_types);
    table.require("to", !config.relay.to.empty());
    table.demand("allow_unknown_types", !config.relay.allow_unknown_types || !config.relay.contracts.empty(),
                 "is of no use without `contracts`");
    return table.done();
}

/// After the callbacks, whose secrets must be others.
Status read_consume(ConfigTable table, Config& config) {
    ConsumeConfig& consume = config.consume;
    table.flag("webhook", consume.webhook);
    table.secrets("secret", consume.secrets);
    table.text("from", consume.from);
    table.count("workers", consume.workers, 1, 64);
    table.demand("webhook", consume.webhook || !consume.from.empty(),
                 "is true, or `from` says where messages come from: one of them, or both");
    if (consume.webhook) table.require("secret", !consume.secrets.empty());
    table.demand("secret", consume.webhook || consume.secrets.empty(), "is of no use without `webhook = true`");
    // Two consumers under one name would share the messages, and each acknowledge what the other needs.
    for (const char* named : {"group=", "queue=", "consumer="})
        for (const char* before : {"?", "&"})
            table.demand("from", consume.from.find(before + std::string(named)) == std::string::npos,
                         "leaves group, queue and consumer to this service: each of its consumers has its own");
    for (const Integration& other : config.integrations)
        table.demand("secret", !share_a_secret(consume.secrets, other.secrets),
                     "is also a secret of an integration: what is signed for one could be given to the other");
    return table.done();
}

Result<Config> read_tables(const std::filesystem::path& file, const toml::table& root) {
    Config config;
    ConfigTable table(file, root, "");
    table.text("database", config.database);
    table.text("listen", config.listen);
    table.profile("profile", config.profile);
    table.path("tokens", config.tokens);
    table.time("drain", config.drain, 100ms, 1h);
    table.flag("check_events", config.check_events);
    if (const auto* tls = table.table("tls")) SEMEL_TRY(read_tls({file, *tls, "tls."}, config));
    if (const auto* limits = table.table("limits")) SEMEL_TRY(read_limits({file, *limits, "limits."}, config));
    if (const auto* kept = table.table("retention"))
        SEMEL_TRY(read_retention(file, {file, *kept, "retention."}, config));
    if (const auto* quotes = table.table("quotes")) SEMEL_TRY(read_quotes({file, *quotes, "quotes."}, config));
    if (const auto* relay = table.table("relay")) SEMEL_TRY(read_relay({file, *relay, "relay."}, config));
    if (const auto* callbacks = table.table("callbacks")) SEMEL_TRY(read_callbacks(file, *callbacks, config));
    if (const auto* consume = table.table("consume")) SEMEL_TRY(read_consume({file, *consume, "consume."}, config));
    SEMEL_TRY(table.done());
    return config;
}

}  // namespace

Duration Config::retention_of(std::string_view operation) const {
    const auto found = retention_of_operation.find(operation);
    return found == retention_of_operation.end() ? retention : found->second.length;
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
