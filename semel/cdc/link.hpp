#pragma once

#include "semel/base/result.hpp"
#include "semel/cdc/lsn.hpp"
#include "semel/cdc/window.hpp"
#include "semel/postgres/connection_string.hpp"
#include "semel/postgres/handles.hpp"
#include "semel/retry/deadline.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace semel::cdc {

/// How to reach the server for replication: directly, not through a pooler.
struct LinkOptions {
    std::string connection;  ///< As for the database itself.
    Duration connect_timeout = std::chrono::seconds(5);
    std::string application_name = "semel relay";
};

/// A slot's name is a file's name on the server: an Error (`rejected`) if this one cannot be.
[[nodiscard]] Status check_slot_name(std::string_view name);

/// A connection on which the server streams its log. One thread at a time; every wait ends with its deadline, and
/// destroying it closes the connection without waiting.
class Link {
public:
    /// Looks the names up and tries every address, as the driver does, until it finds a primary.
    [[nodiscard]] static Result<Link> connect(const LinkOptions& options, Clock& clock, Deadline deadline);

    /// A slot that was just made.
    struct NewSlot {
        Lsn start;             ///< From here on everything comes through it.
        std::string snapshot;  ///< What was committed before: xmin:xmax:running.
    };
    /// Makes a logical slot. The server first waits for every transaction that is open: without an answer by the
    /// deadline there is none yet, and asking again goes on waiting. After an Error the link is of no more use.
    [[nodiscard]] Result<std::optional<NewSlot>> make_slot(const std::string& name, Deadline deadline);

    enum class Started : bool { busy, streaming };
    /// Streams from the last place that was confirmed, or from `from` if that is further. Busy: someone else has the
    /// slot. Whatever it was, a link that does not stream is of no more use.
    [[nodiscard]] Result<Started> start(const std::string& slot, Lsn from, Deadline deadline);

    /// The next envelope, if it is there. Never waits.
    [[nodiscard]] Result<std::optional<CopyBytes>> next();
    /// Tells the server what it may forget, which is a sign of life too. Never waits.
    [[nodiscard]] Status confirm(Lsn confirmed);
    /// True: there may be something to read. False: it is `until`, or a stop was requested.
    [[nodiscard]] bool wait(Instant until, const std::stop_token& stop);

private:
    Link(postgres::ConnectionHandle connection, Clock& clock) : connection_(std::move(connection)), clock_(&clock) {}
    [[nodiscard]] Status send(const std::string& command);
    /// What the server says to that, null at the end of it; none if nothing has come by the deadline.
    [[nodiscard]] Result<std::optional<postgres::ResultHandle>> receive(Deadline deadline);
    [[nodiscard]] Result<postgres::ResultHandle> answer(Deadline deadline);
    [[nodiscard]] Status finish(Deadline deadline);
    /// The first field of the answer.
    [[nodiscard]] Result<std::string> ask(const std::string& command, Deadline deadline);
    [[nodiscard]] Error lost() const;

    postgres::ConnectionHandle connection_;
    Clock* clock_;
    bool making_ = false;  ///< A slot was asked for and is not there yet.
};

}  // namespace semel::cdc
