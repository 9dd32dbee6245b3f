#pragma once

#include "semel/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::postgres {

/// Whether statements are prepared on the server under names, which saves parsing them again.
enum class Prepare : std::uint8_t {
    automatic,  ///< Where the connection is direct, until the server loses a name.
    named,
    unnamed,  ///< For a pooler that cannot carry names and cannot be detected.
};

/// Which server is wanted.
enum class Target : std::uint8_t {
    automatic,  ///< The primary where several hosts are named, else whatever answers.
    any,
    read_write,  ///< Only a server that takes writes.
};

struct ConnectOptions {
    /// `postgres://user:password@host1:5432,host2/database?…` or libpq's `keyword=value` form.
    std::string connection;
    Duration connect_timeout = std::chrono::seconds(5);  ///< For each address, until it is ready for statements.
    Duration dns_timeout = std::chrono::seconds(3);      ///< For each name.
    std::string application_name = "semel";
    Prepare prepare = Prepare::automatic;
    Target target = Target::automatic;
    /// After this silence inside a transaction the server ends it: a client that hangs must not
    /// hold its locks for ever.
    Duration idle_in_transaction_timeout = std::chrono::minutes(1);
    /// How often the server looks, while it works for us, whether we are still there.
    Duration connection_check_interval = std::chrono::seconds(1);
    std::size_t statements_max = 256;  ///< Prepared statements kept per session.
};

/// One server as the connection string names it.
struct Host {
    std::string name;     ///< Also what a TLS certificate is checked against; a path is a Unix socket.
    std::string address;  ///< Given as `hostaddr`: no name is looked up.
    std::string port;
};

struct ConnectionString {
    std::vector<Host> hosts;                                    ///< At least one.
    std::vector<std::pair<std::string, std::string>> settings;  ///< Everything else, libpq's keywords.
    Target target = Target::automatic;
};

/// Takes a connection string apart; what it leaves out comes from libpq's environment variables.
/// An Error says what is wrong and where. It never shows a password, nor anything that might be
/// one.
[[nodiscard]] Result<ConnectionString> parse_connection_string(std::string_view text);

}  // namespace semel::postgres
