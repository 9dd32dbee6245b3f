#include "semel/postgres/connect.hpp"

#include "semel/postgres/failure_table.hpp"

#include <libpq-fe.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace semel::postgres {
namespace {

class Keywords {
public:
    void add(const char* keyword, const std::string& value) {
        keywords_.push_back(keyword);
        values_.push_back(value.c_str());
    }
    [[nodiscard]] bool has(std::string_view keyword) const {
        return std::ranges::find(keywords_, keyword, [](const char* text) { return std::string_view(text); }) !=
               keywords_.end();
    }
    [[nodiscard]] ConnectionHandle start() {
        keywords_.push_back(nullptr);
        values_.push_back(nullptr);
        return ConnectionHandle(PQconnectStartParams(keywords_.data(), values_.data(), 0));
    }

private:
    std::vector<const char*> keywords_;
    std::vector<const char*> values_;
};

ConnectionHandle start(const ConnectionString& target, const Endpoint& endpoint, const ConnectOptions& options) {
    static const std::string disable = "disable";
    static const std::string utf8 = "UTF8";
    Keywords keywords;
    for (const auto& [keyword, value] : target.settings) {
        if (keyword != "client_encoding") keywords.add(keyword.c_str(), value);
    }
    if (!endpoint.name.empty()) keywords.add("host", endpoint.name);
    if (!endpoint.address.empty()) keywords.add("hostaddr", endpoint.address);
    keywords.add("port", endpoint.port);
    keywords.add("client_encoding", utf8);
    if (!keywords.has("application_name")) keywords.add("application_name", options.application_name);
    // Looking for Kerberos tickets costs time on every connection; who has them says so.
    if (!keywords.has("gssencmode")) keywords.add("gssencmode", disable);
    return keywords.start();
}

bool says(std::string_view text, int error_number) {
    return text.find(std::strerror(error_number)) != std::string_view::npos;
}

Error unavailable(std::string message, Timeout timeout = Timeout::none) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = std::move(message);
    error.cause.timeout = timeout;
    return error;
}

/// pgbouncer has one code for everything; what will not change by waiting is told by its text.
bool pooler_refuses_for_good(std::string_view text) {
    constexpr std::array phrases{"no such database", "no such user", "password authentication failed", "auth failed",
                                 "not allowed"};
    return std::ranges::any_of(phrases,
                               [text](const char* phrase) { return text.find(phrase) != std::string_view::npos; });
}

Error refused(PGconn* connection) {
    const std::string text = PQerrorMessage(connection);
    const std::string_view code = sqlstate_in(text);
    if (code == "08P01") {
        Error error = error_from_code(code, text, Phase::connect);
        const bool for_good = pooler_refuses_for_good(text);
        error.fault = for_good ? Fault::rejected : Fault::unavailable;
        error.message = for_good ? "the connection pooler does not know this user, password or database"
                                 : "the connection pooler did not take the connection";
        return error;
    }
    if (!code.empty()) return error_from_code(code, text, Phase::connect);
    Error error = unavailable("the connection attempt failed");
    if (PQconnectionNeedsPassword(connection) == 1) {
        error.fault = Fault::rejected;
        error.message = "the server asks for a password and none was given";
        error.cause.hint = "put the password into the connection string or PGPASSWORD";
    } else if (says(text, ECONNREFUSED) || says(text, ENOENT)) {
        error.message = "nothing listens there: the server is not running, or listens elsewhere";
        error.cause.hint = "start the server, or correct host and port in the connection string";
    } else if (says(text, EHOSTUNREACH) || says(text, ENETUNREACH)) {
        error.message = "there is no route to the host";
    } else if (text.find("certificate") != std::string::npos || text.find("SSL") != std::string::npos) {
        error.fault = Fault::rejected;
        error.message = "no TLS connection could be agreed on";
        error.cause.hint = "check sslmode and sslrootcert, and whether the server offers TLS";
    } else if (says(text, ECONNRESET) || says(text, EPIPE) || PQstatus(connection) == CONNECTION_BAD) {
        error.message = "the server closed the connection before it was ready";
    }
    error.native = text;
    while (error.native.ends_with('\n')) error.native.pop_back();
    return error;
}

Error timed_out(PGconn* connection, bool accepted) {
    if (!accepted)
        return unavailable("no answer to the connection attempt: the host is down, or a firewall drops it",
                           Timeout::connect);
    if (PQsslInUse(connection) == 1) return unavailable("the TLS handshake was not finished in time", Timeout::tls);
    return unavailable("the host accepted the connection but did not answer", Timeout::connect);
}

}  // namespace

std::string Endpoint::text() const { return (name.empty() ? address : name) + ":" + port; }

std::string_view sqlstate_in(std::string_view verbose_text) noexcept {
    // "…: FATAL:  28P01: password authentication failed …"
    const auto is_code = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); };
    for (std::size_t at = verbose_text.find(":  "); at != std::string_view::npos;
         at = verbose_text.find(":  ", at + 1)) {
        const std::string_view code = verbose_text.substr(at + 3, 5);
        if (code.size() == 5 && std::ranges::all_of(code, is_code) && verbose_text.substr(at + 8, 1) == ":")
            return code;
    }
    return {};
}

Result<ConnectionHandle> connect_to(const ConnectionString& target, const Endpoint& endpoint,
                                    const ConnectOptions& options, Deadline deadline, Clock& clock) {
    ConnectionHandle connection = start(target, endpoint, options);
    SEMEL_ASSERT(connection != nullptr);
    // Puts the SQLSTATE into the text, the only place where libpq tells it while connecting.
    PQsetErrorVerbosity(connection.get(), PQERRORS_VERBOSE);
    bool accepted = false;
    PostgresPollingStatusType wants =
        PQstatus(connection.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (wants != PGRES_POLLING_OK) {
        if (wants == PGRES_POLLING_FAILED)
            return fail(refused(connection.get()).within("connect to " + endpoint.text()));
        const Instant now = clock.now();
        if (deadline.passed(now))
            return fail(timed_out(connection.get(), accepted).within("connect to " + endpoint.text()));
        pollfd socket{PQsocket(connection.get()), static_cast<short>(wants == PGRES_POLLING_READING ? POLLIN : POLLOUT),
                      0};
        const Duration slice = std::min<Duration>(deadline.remaining(now), std::chrono::milliseconds(100));
        const int ready =
            ::poll(&socket, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(slice).count()));
        if (ready <= 0) continue;
        wants = PQconnectPoll(connection.get());
        accepted = accepted || PQstatus(connection.get()) != CONNECTION_STARTED;
    }
    PQsetErrorVerbosity(connection.get(), PQERRORS_DEFAULT);
    return connection;
}

}  // namespace semel::postgres
