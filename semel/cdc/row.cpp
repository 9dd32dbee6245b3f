#include "semel/cdc/row.hpp"

#include "semel/cdc/cursor.hpp"
#include "semel/db/value.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

namespace semel::cdc {
namespace {

using pgoutput::Field;

constexpr std::array<std::string_view, 14> column_names{
    "event_id", "position", "aggregate", "tenant",    "aggregate_type", "aggregate_id", "aggregate_version",
    "type",     "payload",  "headers",   "partition", "created_at",     "streamed",     "transaction_id"};

Error unreadable(std::string_view column) {
    Error error;
    error.fault = Fault::broken;
    error.message = "column " + std::string(column) + " of the outbox came in a form that cannot be read";
    return error;
}

/// One row on its way into an event. Remembers the first column that could not be read.
class RowReader {
public:
    explicit RowReader(std::span<const Field> fields) : fields_(fields) {}

    std::optional<std::int64_t> number(std::size_t place, std::string_view column) {
        const Field& field = fields_[place];
        if (field.kind == Field::Kind::null) return std::nullopt;
        ByteCursor cursor(field.bytes);
        if (field.kind == Field::Kind::binary && field.bytes.size() == 8) return cursor.number<std::int64_t>();
        if (field.kind == Field::Kind::binary && field.bytes.size() == 4) return cursor.number<std::int32_t>();
        if (field.kind == Field::Kind::binary && field.bytes.size() == 2) return cursor.number<std::int16_t>();
        std::int64_t value = 0;
        const char* end = field.bytes.data() + field.bytes.size();
        const auto [stopped, error] = std::from_chars(field.bytes.data(), end, value);
        if (field.kind != Field::Kind::text || error != std::errc() || stopped != end) refuse(column);
        return value;
    }
    std::int64_t present_number(std::size_t place, std::string_view column) {
        const auto value = number(place, column);
        if (!value) refuse(column);
        return value.value_or(0);
    }
    std::string text(std::size_t place, std::string_view column) {
        const Field& field = fields_[place];
        // The binary form of a text is the text.
        if (field.kind != Field::Kind::text && field.kind != Field::Kind::binary) refuse(column);
        return std::string(field.bytes);
    }
    Uuid uuid(std::size_t place, std::string_view column) {
        const Field& field = fields_[place];
        Uuid id;
        if (field.kind == Field::Kind::binary && field.bytes.size() == id.bytes.size()) {
            std::memcpy(id.bytes.data(), field.bytes.data(), id.bytes.size());
            return id;
        }
        const auto parsed = Uuid::parse(field.bytes);
        if (field.kind != Field::Kind::text || !parsed) refuse(column);
        return parsed.value_or(id);
    }
    Timestamp time(std::size_t place, std::string_view column) {
        const Field& field = fields_[place];
        if (field.kind == Field::Kind::binary) {
            const std::int64_t since = present_number(place, column);
            std::int64_t microseconds = 0;
            if (__builtin_add_overflow(since, pgoutput::epoch_microseconds, &microseconds)) refuse(column);
            return Timestamp(std::chrono::microseconds(microseconds));
        }
        const auto parsed = parse_timestamp(field.bytes);
        if (field.kind != Field::Kind::text || !parsed) refuse(column);
        return parsed.value_or(Timestamp());
    }
    bool truth(std::size_t place, std::string_view column) {
        const Field& field = fields_[place];
        if (field.kind == Field::Kind::binary && field.bytes.size() == 1) return field.bytes[0] != 0;
        if (field.kind != Field::Kind::text || (field.bytes != "t" && field.bytes != "f")) refuse(column);
        return field.bytes == "t";
    }
    [[nodiscard]] const std::optional<std::string_view>& refused() const noexcept { return refused_; }

private:
    void refuse(std::string_view column) {
        if (!refused_) refused_ = column;
    }
    std::span<const Field> fields_;
    std::optional<std::string_view> refused_;
};

}  // namespace

Result<EventColumns> EventColumns::of(const pgoutput::Relation& relation) {
    static_assert(column_names.size() == count);
    EventColumns columns;
    for (std::size_t n = 0; n < column_names.size(); ++n) {
        const auto found = std::ranges::find(relation.columns, column_names[n], &pgoutput::Column::name);
        if (found == relation.columns.end()) {
            Error error;
            error.fault = Fault::rejected;
            error.message = "the log shows events without their column " + std::string(column_names[n]);
            error.cause.hint = "migrate the database, and publish every column of semel.outbox_event";
            return fail(std::move(error));
        }
        columns.places_[n] = static_cast<std::size_t>(found - relation.columns.begin());
    }
    return columns;
}

Result<StreamedEvent> StreamedEvent::from(const pgoutput::Insert& row, const EventColumns& columns) {
    using enum EventColumns::Name;
    const auto& places = columns.places_;
    if (row.fields.size() <= std::ranges::max(places))
        return fail(Fault::broken, "the server sent a row of the outbox with too few columns");
    RowReader reader(row.fields);
    const auto place = [&](EventColumns::Name name) { return places[name]; };
    const auto called = [](EventColumns::Name name) { return column_names[name]; };
    StreamedEvent event;
    event.message.id = reader.uuid(place(event_id), called(event_id));
    event.message.tenant = reader.text(place(tenant), called(tenant));
    event.message.aggregate.type = reader.text(place(aggregate_type), called(aggregate_type));
    event.message.aggregate.id = reader.text(place(aggregate_id), called(aggregate_id));
    event.message.aggregate.version = reader.number(place(aggregate_version), called(aggregate_version));
    event.message.type = reader.text(place(type), called(type));
    event.message.payload = reader.text(place(payload), called(payload));
    event.message.headers = reader.text(place(headers), called(headers));
    event.message.created_at = reader.time(place(created_at), called(created_at));
    event.message.position = reader.present_number(place(position), called(position));
    event.message.partition = static_cast<std::int32_t>(reader.present_number(place(partition), called(partition)));
    event.aggregate = reader.present_number(place(EventColumns::aggregate), called(EventColumns::aggregate));
    event.streamed = reader.truth(place(EventColumns::streamed), called(EventColumns::streamed));
    event.transaction =
        static_cast<std::uint64_t>(reader.present_number(place(transaction_id), called(transaction_id)));
    if (reader.refused()) return fail(unreadable(*reader.refused()));
    return event;
}

}  // namespace semel::cdc
