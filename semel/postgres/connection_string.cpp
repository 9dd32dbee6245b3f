#include "semel/postgres/connection_string.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

namespace semel::postgres {
namespace {

struct FreeOptions {
    void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};
using Options = std::unique_ptr<PQconninfoOption, FreeOptions>;

Error malformed(std::string what) {
    Error error;
    error.fault = Fault::rejected;
    error.message = "the connection string is malformed: " + std::move(what);
    error.cause.hint = "write postgres://user:password@host:5432/database, with special characters percent-encoded";
    return error;
}

bool may_hold_password(std::string_view text) {
    return text.find('@') != std::string_view::npos || text.find("pass") != std::string_view::npos ||
           text.find("://") != std::string_view::npos;
}

/// libpq's complaint quotes parts of the string. They are left out where a password could be
/// among them, and the place is told by its number instead.
std::string safe_complaint(std::string_view complaint, std::string_view text) {
    const bool secret = may_hold_password(text);
    std::string safe;
    std::optional<std::size_t> place;
    // With a quotation mark in the string itself nobody can tell where libpq's quotation ends.
    if (secret && text.find('"') != std::string_view::npos)
        return std::string(complaint.substr(0, complaint.find('"'))) +
               "… (it is not shown, for it may hold a password)";
    while (!complaint.empty()) {
        const std::size_t open = complaint.find('"');
        const std::size_t close = open == std::string_view::npos ? open : complaint.find('"', open + 1);
        if (close == std::string_view::npos) {
            safe.append(complaint);
            break;
        }
        const std::string_view quoted = complaint.substr(open + 1, close - open - 1);
        if (const std::size_t at = text.find(quoted); quoted.size() > 1 && at != std::string_view::npos && !place)
            place = at + 1;
        safe.append(complaint.substr(0, open + 1)).append(secret && quoted.size() > 1 ? "…" : quoted).append("\"");
        complaint.remove_prefix(close + 1);
    }
    while (!safe.empty() && safe.back() == '\n') safe.pop_back();
    if (place) safe.append(" (at character ").append(std::to_string(*place)).append(")");
    return safe;
}

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> parts;
    for (;;) {
        const std::size_t comma = list.find(',');
        parts.emplace_back(list.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        list.remove_prefix(comma + 1);
    }
}

bool is_port(std::string_view text) {
    unsigned port = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
    return failed == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

std::string default_of(std::string_view keyword) {
    const Options defaults(PQconndefaults());
    for (const PQconninfoOption* option = defaults.get(); option != nullptr && option->keyword != nullptr; ++option) {
        if (option->keyword == keyword && option->val != nullptr) return option->val;
    }
    return {};
}

Result<std::vector<Host>> hosts_from(std::string names, const std::string& addresses, std::string ports) {
    if (names.empty() && addresses.empty()) names = default_of("host");
    if (names.empty() && addresses.empty()) names = "/var/run/postgresql";
    if (ports.empty()) ports = default_of("port");
    if (ports.empty()) ports = "5432";
    const auto name_list = split(names);
    const auto address_list = split(addresses);
    const auto port_list = split(ports);
    const std::size_t count = names.empty() ? address_list.size() : name_list.size();
    if (!names.empty() && !addresses.empty() && name_list.size() != address_list.size())
        return fail(malformed("it has " + std::to_string(name_list.size()) + " hosts and " +
                              std::to_string(address_list.size()) + " host addresses"));
    if (port_list.size() != 1 && port_list.size() != count)
        return fail(
            malformed("it has " + std::to_string(count) + " hosts and " + std::to_string(port_list.size()) + " ports"));
    std::vector<Host> hosts;
    for (std::size_t i = 0; i < count; ++i) {
        Host host;
        if (!names.empty()) host.name = name_list[i];
        if (!addresses.empty()) host.address = address_list[i];
        host.port = port_list.size() == 1 ? port_list[0] : port_list[i];
        if (host.port.empty()) host.port = "5432";
        if (host.name.empty() && host.address.empty()) host.name = "localhost";
        // The rest of a password, most likely: libpq ends it at the first @.
        if (host.name.find('@', 1) != std::string::npos)
            return fail(malformed("a host holds an @; in a password it is written %40"));
        // Not shown: in "postgres://user:secret" what stands there is the password.
        if (!is_port(host.port))
            return fail(malformed("the port of host " + std::to_string(i + 1) + " is not a number from 1 to 65535"));
        hosts.push_back(std::move(host));
    }
    return hosts;
}

}  // namespace

Result<ConnectionString> parse_connection_string(std::string_view text) {
    if (text.empty()) return fail(malformed("it is empty"));
    if (text.find('\0') != std::string_view::npos) return fail(malformed("it holds a zero byte"));
    char* complaint = nullptr;
    const Options options(PQconninfoParse(std::string(text).c_str(), &complaint));
    if (!options) {
        std::string what = safe_complaint(complaint != nullptr ? complaint : "not understood", text);
        PQfreemem(complaint);
        return fail(malformed(std::move(what)));
    }
    ConnectionString parsed;
    std::string names;
    std::string addresses;
    std::string ports;
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val == nullptr) continue;
        const std::string_view keyword = option->keyword;
        const std::string_view value = option->val;
        if (keyword == "host")
            names = value;
        else if (keyword == "hostaddr")
            addresses = value;
        else if (keyword == "port")
            ports = value;
        else if (keyword == "service")
            return fail(malformed("service files are not read; name host, port and database"));
        else if (keyword == "target_session_attrs" && (value == "read-write" || value == "primary"))
            parsed.target = Target::read_write;
        else if (keyword == "target_session_attrs" && (value == "any" || value == "prefer-standby"))
            parsed.target = Target::any;
        else if (keyword == "replication")
            return fail(malformed("replication connections run no transactions"));
        else
            parsed.settings.emplace_back(keyword, value);
    }
    parsed.hosts = SEMEL_TRY(hosts_from(std::move(names), addresses, std::move(ports)));
    return parsed;
}

}  // namespace semel::postgres
