#include "semel/cdc/pgoutput.hpp"

#include "semel/cdc/cursor.hpp"

#include <string>

namespace semel::cdc::pgoutput {
namespace {

Error malformed(std::string_view what) {
    Error error;
    error.fault = Fault::broken;
    error.message = "the server sent " + std::string(what) + " that cannot be read";
    return error;
}

Lsn lsn_from(ByteCursor& cursor) { return Lsn{cursor.number<std::uint64_t>()}; }

/// A row: how many columns, then each of them.
bool read_tuple(ByteCursor& cursor, std::vector<Field>& fields) {
    const auto count = cursor.number<std::uint16_t>();
    fields.clear();
    // Each column takes at least the byte of its kind: a count that promises more is not believed.
    if (!cursor.sound() || count > cursor.remaining()) return false;
    fields.reserve(count);
    for (std::uint16_t n = 0; n < count; ++n) {
        switch (cursor.number<char>()) {
            case 'n': fields.push_back({.kind = Field::Kind::null}); break;
            case 'u': fields.push_back({.kind = Field::Kind::unchanged}); break;
            case 't':
                fields.push_back({.kind = Field::Kind::text, .bytes = cursor.take(cursor.number<std::uint32_t>())});
                break;
            case 'b':
                fields.push_back({.kind = Field::Kind::binary, .bytes = cursor.take(cursor.number<std::uint32_t>())});
                break;
            default: return false;
        }
        if (!cursor.sound()) return false;
    }
    return true;
}

Result<Change> whole(const ByteCursor& cursor, Change change, std::string_view what) {
    if (!cursor.finished()) return fail(malformed(what));
    return change;
}

Result<Change> note_from(ByteCursor& cursor) {
    constexpr std::uint8_t transactional = 1;
    Note note;
    note.transactional = (cursor.number<std::uint8_t>() & transactional) != 0;
    note.at = lsn_from(cursor);
    note.prefix = cursor.text();
    note.content = cursor.take(cursor.number<std::uint32_t>());
    return whole(cursor, note, "a message");
}

Result<Change> relation_from(ByteCursor& cursor) {
    Relation relation;
    relation.id = cursor.number<std::uint32_t>();
    relation.schema = cursor.text();
    relation.name = cursor.text();
    std::ignore = cursor.number<std::uint8_t>();  // What identifies a row, for updates.
    const auto count = cursor.number<std::uint16_t>();
    constexpr std::size_t column_bytes_min = 10;  // Flags, an empty name with its zero, type and modifier.
    if (!cursor.sound() || count > cursor.remaining() / column_bytes_min) return fail(malformed("a relation"));
    relation.columns.reserve(count);
    for (std::uint16_t n = 0; n < count; ++n) {
        std::ignore = cursor.number<std::uint8_t>();  // Flags.
        const std::string_view name = cursor.text();
        const auto type = cursor.number<std::uint32_t>();
        std::ignore = cursor.number<std::uint32_t>();  // Its modifier.
        relation.columns.push_back({.name = name, .type = type});
    }
    return whole(cursor, std::move(relation), "a relation");
}

Result<Change> insert_from(ByteCursor& cursor, std::vector<Field>& fields) {
    Insert insert;
    insert.relation = cursor.number<std::uint32_t>();
    if (cursor.number<char>() != 'N' || !read_tuple(cursor, fields)) return fail(malformed("a row"));
    insert.fields = fields;
    return whole(cursor, insert, "a row");
}

}  // namespace

Result<Change> Decoder::decode(std::string_view message) {
    ByteCursor cursor(message);
    const char kind = cursor.number<char>();
    switch (kind) {
        case 'B': {
            Begin begin;
            begin.commit = lsn_from(cursor);
            std::ignore = cursor.number<std::uint64_t>();  // When it committed.
            begin.transaction = cursor.number<std::uint32_t>();
            return whole(cursor, begin, "a begin");
        }
        case 'C': {
            Commit commit;
            std::ignore = cursor.number<std::uint8_t>();  // Flags: none yet.
            commit.at = lsn_from(cursor);
            commit.end = lsn_from(cursor);
            std::ignore = cursor.number<std::uint64_t>();  // When.
            return whole(cursor, commit, "a commit");
        }
        case 'M': return note_from(cursor);
        case 'R': return relation_from(cursor);
        case 'I': return insert_from(cursor, fields_);
        case 'O':
        case 'Y':
        case 'U':
        case 'D':
        case 'T':
            if (cursor.remaining() == 0) return fail(malformed("a change"));
            return Ignored{kind};
        default: return fail(malformed("a kind of message"));
    }
}

Result<Envelope> open_envelope(std::string_view bytes) {
    ByteCursor cursor(bytes);
    switch (cursor.number<char>()) {
        case 'w': {
            Data data;
            data.start = lsn_from(cursor);
            data.end = lsn_from(cursor);
            std::ignore = cursor.number<std::uint64_t>();  // The server's clock.
            if (!cursor.sound()) return fail(malformed("a piece of its log"));
            data.message = cursor.rest();
            return data;
        }
        case 'k': {
            Keepalive keepalive;
            keepalive.end = lsn_from(cursor);
            std::ignore = cursor.number<std::uint64_t>();  // The server's clock.
            keepalive.reply_now = cursor.number<std::uint8_t>() != 0;
            if (!cursor.finished()) return fail(malformed("a sign of life"));
            return keepalive;
        }
        default: return fail(malformed("an envelope"));
    }
}

StatusUpdate status_update(Lsn confirmed, Timestamp now) noexcept {
    StatusUpdate update{};
    std::size_t at = 0;
    const auto put = [&](std::uint64_t value) {
        for (int shift = 56; shift >= 0; shift -= 8) update[at++] = static_cast<char>(value >> shift & 0xffU);
    };
    update[at++] = 'r';
    put(confirmed.value);  // Written, …
    put(confirmed.value);  // … safe, …
    put(confirmed.value);  // … and applied.
    put(static_cast<std::uint64_t>(now.time_since_epoch().count() - epoch_microseconds));
    update[at] = 0;  // No answer is asked for.
    return update;
}

}  // namespace semel::cdc::pgoutput
