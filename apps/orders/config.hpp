#pragma once

#include "apps/orders/consumers/consumers.hpp"
#include "apps/orders/domain/quote.hpp"
#include "apps/orders/http/integration.hpp"
#include "apps/orders/relay.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/command_route.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

/// How long the replies of one operation are kept, and where that was said.
struct OperationRetention {
    semel::Duration length{};
    std::string where;  ///< "orders.toml:12"
};

/// Everything about one instance of the service that may differ from another. docs/guides/orders.md lists the keys of
/// the file; the command line goes before the file.
struct Config {
    std::string database;  ///< No default: nobody should write into a database by accident.
    std::string listen = "127.0.0.1:8080";
    semel::http::Profile profile = semel::http::Profile::classic;
    std::filesystem::path tokens{};  ///< Lines of `<SHA-256> <tenant> <caller>`; empty: loopback only.
    semel::Duration drain = std::chrono::seconds(30);

    std::filesystem::path tls_certificate{};
    std::filesystem::path tls_key{};

    std::size_t workers = 8;        ///< Requests executed at once.
    std::size_t async_workers = 2;  ///< Commands executed at once that no client waits for; 0: others do.
    std::size_t pool = 10;          ///< Sessions with the database.
    std::size_t queue = 256;
    std::size_t connections = 4096;
    std::size_t body_bytes = std::size_t{1} << 20U;
    std::size_t cache_bytes = std::size_t{64} << 20U;  ///< Of finished replies; 0: none.
    semel::Duration request_deadline = std::chrono::seconds(30);

    semel::Duration retention = std::chrono::hours(24);
    semel::Duration tombstone = std::chrono::hours(24 * 30);
    semel::Duration retention_pass = std::chrono::minutes(1);
    /// By name; which names there are is known to whoever makes the routes.
    std::map<std::string, OperationRetention, std::less<>> retention_of_operation{};

    /// Hold every event against its contract before it is written. Costs time, so that a release does so on request only.
#ifdef SEMEL_FAILPOINTS
    bool check_events = true;
#else
    bool check_events = false;
#endif

    bool demo = false;  ///< Fill an empty store with something to look at; on the command line only.

    QuotePolicy quotes{};
    semel::Duration expiry_pass = std::chrono::seconds(10);

    std::vector<Integration> integrations{};  ///< Who may call back, and how we know them.

    RelayConfig relay{};
    ConsumeConfig consume{};

    [[nodiscard]] semel::Duration retention_of(std::string_view operation) const;
};

/// Reads a TOML file over the defaults. Paths in it are relative to its folder. An Error (`rejected`) names file, line
/// and key, and says what is allowed: a key that nobody knows, a value of another type or out of range.
[[nodiscard]] semel::Result<Config> read_config(const std::filesystem::path& file);

}  // namespace orders
