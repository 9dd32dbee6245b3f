#include "semel/cdc/link.hpp"

#include "semel/cdc/pgoutput.hpp"

#include "semel/postgres/connect.hpp"
#include "semel/postgres/failure_table.hpp"
#include "semel/postgres/resolver.hpp"

#include <libpq-fe.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace semel::cdc {
namespace {

using postgres::ConnectionHandle;
using postgres::ResultHandle;

/// Longest slice of a wait: a clock of a test, or a socket that closed without a word, is noticed after it.
constexpr Duration slice_max = std::chrono::milliseconds(100);

int poll_for(PGconn* connection, short events, Duration limit) {
    pollfd socket{PQsocket(connection), events, 0};
    return ::poll(&socket, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(limit).count()));
}

Error of_result(const PGresult* result) {
    Error error = postgres::error_from(result, Phase::transaction);
    const std::string_view code = postgres::sqlstate_of(result);
    if (code == "42501") error.cause.hint = "the role needs REPLICATION: ALTER ROLE … REPLICATION";
    if (code == "53400") error.cause.hint = "all slots are taken: raise max_replication_slots, or drop one";
    if (code == "53300") error.cause.hint = "raise max_wal_senders";
    return error;
}

/// Where the connection goes to: every address of every host, in turn.
std::vector<postgres::Endpoint> endpoints_of(const postgres::ConnectionString& target, Clock& clock, Deadline deadline,
                                             Error& failure) {
    std::vector<postgres::Endpoint> all;
    for (const postgres::Host& host : target.hosts) {
        const bool path = host.name.starts_with('/') || host.name.starts_with('@');
        if (!host.address.empty() || path) {
            all.push_back({host.name, host.address, host.port});
            continue;
        }
        auto addresses = postgres::resolve_name(host.name, deadline, clock);
        if (!addresses) {
            failure = std::move(addresses).error();
            continue;
        }
        for (std::string& address : *addresses) all.push_back({host.name, std::move(address), host.port});
    }
    return all;
}

}  // namespace

void CopyBytes::Free::operator()(char* bytes) const noexcept { PQfreemem(bytes); }

Status check_slot_name(std::string_view name) {
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    constexpr std::size_t name_max = 63;
    if (!name.empty() && name.size() <= name_max && std::ranges::all_of(name, allowed)) return {};
    return fail(Fault::rejected, "the name of a slot has 1 to 63 lower-case letters, digits and underscores");
}

Result<Link> Link::connect(const LinkOptions& options, Clock& clock, Deadline deadline) {
    auto target = SEMEL_TRY(postgres::parse_connection_string(options.connection));
    target.settings.emplace_back("replication", "database");
    postgres::ConnectOptions how;
    how.application_name = options.application_name;
    Error failure;
    failure.fault = Fault::unavailable;
    failure.message = "no server is named";
    const auto endpoints = endpoints_of(target, clock, deadline, failure);
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        const Instant now = clock.now();
        // One silent address must not use up the time of those behind it.
        const Duration share = deadline.remaining(now) / static_cast<std::int64_t>(endpoints.size() - i);
        const Deadline until = deadline.within(now, std::min(options.connect_timeout, share));
        auto connected = postgres::connect_to(target, endpoints[i], how, until, clock);
        if (!connected) {
            failure = std::move(connected).error();
            if (failure.cause.code == "08P01")
                failure.cause.hint = "replication needs a direct connection: a pooler does not carry it";
            if (failure.cause.code == "42501")
                failure.cause.hint = "the role needs REPLICATION: ALTER ROLE … REPLICATION";
            continue;
        }
        Link link(*std::move(connected), clock);
        if (PQsetnonblocking(link.connection_.get(), 1) != 0) return fail(link.lost());
        const auto recovering = link.ask("SELECT pg_is_in_recovery()", until);
        if (recovering && *recovering == "f") return link;
        failure.fault = Fault::unavailable;
        failure.message = endpoints[i].text() + ": the server takes no writes, it is not the primary";
        if (!recovering) failure = recovering.error();
    }
    return fail(std::move(failure).within("connect for replication"));
}

Status Link::send(const std::string& command) {
    if (PQsendQuery(connection_.get(), command.c_str()) != 1) return fail(lost());
    return {};
}

Result<std::optional<ResultHandle>> Link::receive(Deadline deadline) {
    for (;;) {
        const int unsent = PQflush(connection_.get());
        if (unsent < 0 || PQconsumeInput(connection_.get()) != 1) return fail(lost());
        if (PQisBusy(connection_.get()) == 0) return std::optional(ResultHandle(PQgetResult(connection_.get())));
        const Instant now = clock_->now();
        if (deadline.passed(now)) return std::optional<ResultHandle>();
        poll_for(connection_.get(), static_cast<short>(unsent == 1 ? POLLIN | POLLOUT : POLLIN),
                 std::min(deadline.remaining(now), slice_max));
    }
}

Result<ResultHandle> Link::answer(Deadline deadline) {
    auto result = SEMEL_TRY(receive(deadline));
    if (!result || *result == nullptr) return fail(Fault::unavailable, "the server did not answer in time");
    return *std::move(result);
}

Status Link::finish(Deadline deadline) {
    for (;;) {
        const auto rest = SEMEL_TRY(receive(deadline));
        if (!rest) return fail(Fault::unavailable, "the server did not finish its answer in time");
        if (*rest == nullptr) return {};
    }
}

Result<std::string> Link::ask(const std::string& command, Deadline deadline) {
    SEMEL_TRY(send(command));
    const ResultHandle result = SEMEL_TRY(answer(deadline));
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return fail(of_result(result.get()));
    std::string field;
    if (status == PGRES_TUPLES_OK && PQntuples(result.get()) == 1) field = PQgetvalue(result.get(), 0, 0);
    SEMEL_TRY(finish(deadline));
    return field;
}

Result<std::optional<Link::NewSlot>> Link::make_slot(const std::string& name, Deadline deadline) {
    SEMEL_TRY(check_slot_name(name));
    if (!making_) {
        SEMEL_TRY(ask("BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ", deadline));
        SEMEL_TRY(send("CREATE_REPLICATION_SLOT " + name + " LOGICAL pgoutput USE_SNAPSHOT"));
        making_ = true;
    }
    const auto received = SEMEL_TRY(receive(deadline));
    if (!received) return std::optional<NewSlot>();
    const PGresult* made = received->get();
    if (PQresultStatus(made) != PGRES_TUPLES_OK || PQntuples(made) != 1)
        return fail(of_result(made).within("make the slot"));
    NewSlot slot;
    slot.start = SEMEL_TRY(Lsn::parse(PQgetvalue(made, 0, 1)));
    SEMEL_TRY(finish(deadline));
    // The transaction sees what was committed when the slot begins, neither more nor less.
    slot.snapshot = SEMEL_TRY(ask("SELECT pg_current_snapshot()", deadline));
    SEMEL_TRY(ask("COMMIT", deadline));
    making_ = false;
    return std::optional(std::move(slot));
}

Result<Link::Started> Link::start(const std::string& slot, Lsn from, Deadline deadline) {
    SEMEL_TRY(check_slot_name(slot));
    // Messages bring the heartbeats; the binary form spares both sides the writing and reading of numbers and times.
    SEMEL_TRY(send("START_REPLICATION SLOT " + slot + " LOGICAL " + from.text() +
                   " (proto_version '1', publication_names 'semel_outbox', binary 'true', messages 'true')"));
    const ResultHandle begun = SEMEL_TRY(answer(deadline));
    if (PQresultStatus(begun.get()) == PGRES_COPY_BOTH) return Started::streaming;
    if (postgres::sqlstate_of(begun.get()) == "55006") return Started::busy;
    return fail(of_result(begun.get()).within("stream the log"));
}

Result<std::optional<CopyBytes>> Link::next() {
    for (int looks = 0;; ++looks) {
        char* bytes = nullptr;
        const int size = PQgetCopyData(connection_.get(), &bytes, 1);
        if (size > 0) return std::optional(CopyBytes(bytes, static_cast<std::size_t>(size)));
        if (size < 0) {
            // The server has ended the stream; it may say why.
            const ResultHandle last(PQgetResult(connection_.get()));
            if (last != nullptr && PQresultStatus(last.get()) == PGRES_FATAL_ERROR &&
                !postgres::sqlstate_of(last.get()).empty())
                return fail(of_result(last.get()).within("read the log"));
            return fail(lost());
        }
        // Twice: a layer of encryption may hold back what the socket has given already.
        if (looks == 2) return std::optional<CopyBytes>();
        if (PQconsumeInput(connection_.get()) != 1) return fail(lost());
    }
}

Status Link::confirm(Lsn confirmed) {
    const auto update = pgoutput::status_update(confirmed, clock_->wall());
    if (PQputCopyData(connection_.get(), update.data(), static_cast<int>(update.size())) < 0 ||
        PQflush(connection_.get()) < 0)
        return fail(lost());
    return {};
}

bool Link::wait(Instant until, const std::stop_token& stop) {
    const int alarm = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (alarm < 0) return false;
    bool readable = false;
    {
        const std::stop_callback wake(stop, [alarm] { std::ignore = ::eventfd_write(alarm, 1); });
        std::array<pollfd, 2> sockets{pollfd{PQsocket(connection_.get()), POLLIN, 0}, pollfd{alarm, POLLIN, 0}};
        while (!readable && !stop.stop_requested()) {
            const Instant now = clock_->now();
            if (now >= until) break;
            const Duration limit = std::min<Duration>(until - now, std::chrono::seconds(1));
            ::poll(sockets.data(), sockets.size(),
                   static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(limit).count()));
            readable = sockets[0].revents != 0;
        }
    }
    ::close(alarm);
    return readable;
}

Error Link::lost() const {
    return postgres::lost_connection(PQerrorMessage(connection_.get()), Phase::transaction)
        .within("the replication link");
}

}  // namespace semel::cdc
