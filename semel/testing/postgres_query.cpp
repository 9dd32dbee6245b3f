#include "semel/testing/postgres_query.hpp"

#include <libpq-fe.h>

#include <memory>

namespace semel::testing::detail {

namespace {

PGresult* execute(PGconn* connection, const std::string& text, const std::vector<std::string>& parameters) {
    if (parameters.empty()) return PQexec(connection, text.c_str());
    std::vector<const char*> values;
    for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
    return PQexecParams(connection, text.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr,
                        nullptr, 0);
}

}  // namespace

Result<std::string> query(const std::string& url, const std::string& text, const std::vector<std::string>& parameters) {
    // Long enough for a loaded machine, short enough that a paused server is noticed.
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(
        PQconnectdb((url + "?connect_timeout=10&sslmode=disable&gssencmode=disable").c_str()), PQfinish);
    if (PQstatus(connection.get()) != CONNECTION_OK)
        return fail(Fault::unavailable, std::string("connect: ") + PQerrorMessage(connection.get()));
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(execute(connection.get(), text, parameters), PQclear);
    switch (PQresultStatus(result.get())) {
        case PGRES_COMMAND_OK: return std::string();
        case PGRES_TUPLES_OK:
            return PQntuples(result.get()) == 0 ? std::string() : std::string(PQgetvalue(result.get(), 0, 0));
        default: break;
    }
    Error error{.fault = Fault::rejected, .message = text, .native = PQerrorMessage(connection.get()), .cause = {}};
    if (const char* code = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE)) error.cause.code = code;
    return fail(std::move(error));
}

bool answers(const std::string& url) { return PQping((url + "?connect_timeout=2").c_str()) == PQPING_OK; }

}  // namespace semel::testing::detail
