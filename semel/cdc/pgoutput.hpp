#pragma once

#include "semel/base/result.hpp"
#include "semel/cdc/lsn.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

/// What a PostgreSQL server says on a replication connection, taken apart: the envelopes of the streaming protocol
/// and, within them, the messages of the output plugin pgoutput (protocol version 1: a transaction arrives whole, after
/// its commit). Pure functions over bytes. No length is believed before it was compared with what is there; anything
/// that does not fit to the last byte is an Error (`broken`). Texts are views into the bytes given.
namespace semel::cdc::pgoutput {

/// A transaction that has committed begins.
struct Begin {
    Lsn commit;  ///< Where its commit stands in the log.
    std::uint32_t transaction = 0;
};
struct Commit {
    Lsn at;
    Lsn end;  ///< Behind the commit: confirming this place confirms the transaction.
};
/// What someone wrote with pg_logical_emit_message.
struct Note {
    bool transactional = false;
    Lsn at;
    std::string_view prefix;
    std::string_view content;
};
struct Column {
    std::string_view name;
    std::uint32_t type = 0;
};
/// What the rows that follow look like. Sent before the first row and again after each change of the table.
struct Relation {
    std::uint32_t id = 0;
    std::string_view schema;
    std::string_view name;
    std::vector<Column> columns;
};
struct Field {
    enum class Kind : std::uint8_t {
        null,
        unchanged,  ///< Stored apart from its row and not sent, since it did not change.
        text,
        binary,
    };
    Kind kind = Kind::null;
    std::string_view bytes{};
};
struct Insert {
    std::uint32_t relation = 0;
    std::span<const Field> fields;  ///< Valid until the decoder is used again.
};
/// Well-formed, and of no interest: origins, types, updates, deletes, truncates.
struct Ignored {
    char kind = 0;
};

using Change = std::variant<Begin, Commit, Note, Relation, Insert, Ignored>;

/// Takes one message apart after the other. Keeps the room for fields between calls, so that a row costs no allocation.
class Decoder {
public:
    [[nodiscard]] Result<Change> decode(std::string_view message);

private:
    std::vector<Field> fields_;
};

/// A piece of the log.
struct Data {
    Lsn start;
    Lsn end;  ///< As far as the server has got.
    std::string_view message;
};
/// A sign of life.
struct Keepalive {
    Lsn end;  ///< Everything before it that is of interest was sent.
    bool reply_now = false;
};
using Envelope = std::variant<Data, Keepalive>;

[[nodiscard]] Result<Envelope> open_envelope(std::string_view bytes);

/// What we answer: everything before `confirmed` may be forgotten by the server.
using StatusUpdate = std::array<char, 34>;
[[nodiscard]] StatusUpdate status_update(Lsn confirmed, Timestamp now) noexcept;

/// The server counts microseconds from the beginning of the year 2000.
inline constexpr std::int64_t epoch_microseconds = 946'684'800'000'000;

}  // namespace semel::cdc::pgoutput
