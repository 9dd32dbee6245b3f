#include "semel/cdc/row.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace semel::cdc {
namespace {

using pgoutput::Field;

/// A relation and a row of it, column by column.
struct Table {
    std::vector<std::pair<std::string, Field>> columns;

    static Field text(std::string_view bytes) { return {.kind = Field::Kind::text, .bytes = bytes}; }
    static Table whole() {
        return {{{"event_id", text("0190163d-8694-739b-aea5-966c26f8ad91")},
                 {"position", text("7")},
                 {"aggregate", text("-42")},
                 {"tenant", text("shop")},
                 {"aggregate_type", text("order")},
                 {"aggregate_id", text("o-1")},
                 {"aggregate_version", {}},
                 {"type", text("order.created")},
                 {"payload", text("{}")},
                 {"headers", text("{}")},
                 {"partition", text("22")},
                 {"transaction_id", text("726")},
                 {"created_at", text("2026-01-31 23:59:59.5+00")},
                 {"streamed", text("t")}}};
    }
    [[nodiscard]] Result<StreamedEvent> read() const {
        pgoutput::Relation relation{.id = 1, .schema = "semel", .name = "outbox_event", .columns = {}};
        std::vector<Field> fields;
        for (const auto& [name, field] : columns) {
            relation.columns.push_back({.name = name, .type = 0});
            fields.push_back(field);
        }
        const EventColumns places = SEMEL_TRY(EventColumns::of(relation));
        return StreamedEvent::from({.relation = 1, .fields = fields}, places);
    }
    Field& operator[](std::string_view name) {
        return std::ranges::find(columns, name, [](const auto& one) { return one.first; })->second;
    }
};

TEST(StreamedRow, IsReadFromText) {
    const auto event = Table::whole().read();
    ASSERT_TRUE(event) << event.error().describe();
    EXPECT_EQ(event->message.id.text(), "0190163d-8694-739b-aea5-966c26f8ad91");
    EXPECT_EQ(event->message.position, 7);
    EXPECT_EQ(event->aggregate, -42);
    EXPECT_EQ(event->message.aggregate.version, std::nullopt);
    EXPECT_EQ(event->message.partition, 22);
    EXPECT_EQ(event->transaction, 726U);
    EXPECT_TRUE(event->streamed);
    EXPECT_EQ(event->message.created_at.time_since_epoch().count(), 1'769'903'999'500'000);
}

TEST(StreamedRow, IsReadFromBinary) {
    Table table = Table::whole();
    const auto binary = [](std::string_view bytes) { return Field{.kind = Field::Kind::binary, .bytes = bytes}; };
    using namespace std::string_view_literals;
    table["event_id"] = binary("\x01\x90\x16\x3d\x86\x94\x73\x9b\xae\xa5\x96\x6c\x26\xf8\xad\x91"sv);
    table["position"] = binary("\0\0\0\0\0\0\1\0"sv);
    table["aggregate"] = binary("\xff\xff\xff\xff\xff\xff\xff\xfe"sv);
    table["aggregate_version"] = binary("\0\0\0\0\0\0\0\3"sv);
    table["partition"] = binary("\0\x3f"sv);
    table["transaction_id"] = binary("\0\0\0\1\0\0\0\0"sv);
    table["created_at"] = binary("\0\0\0\0\0\0\0\1"sv);
    table["streamed"] = binary("\0"sv);
    table["payload"] = binary("{\"a\":1}"sv);
    const auto event = table.read();
    ASSERT_TRUE(event) << event.error().describe();
    EXPECT_EQ(event->message.id.text(), "0190163d-8694-739b-aea5-966c26f8ad91");
    EXPECT_EQ(event->message.position, 256);
    EXPECT_EQ(event->aggregate, -2);
    EXPECT_EQ(event->message.aggregate.version, 3);
    EXPECT_EQ(event->message.partition, 63);
    EXPECT_EQ(event->transaction, 1ULL << 32U);
    EXPECT_FALSE(event->streamed);
    EXPECT_EQ(event->message.created_at.time_since_epoch().count(), pgoutput::epoch_microseconds + 1);
    EXPECT_EQ(event->message.payload, "{\"a\":1}");
}

TEST(StreamedRow, MayHaveItsColumnsInAnyOrderAndMoreOfThem) {
    Table table = Table::whole();
    std::ranges::reverse(table.columns);
    table.columns.insert(table.columns.begin() + 3, {"of a later version", Table::text("what?")});
    const auto event = table.read();
    ASSERT_TRUE(event) << event.error().describe();
    EXPECT_EQ(event->message.aggregate.id, "o-1");
    EXPECT_EQ(event->message.position, 7);
}

TEST(StreamedRow, NamesAColumnThatIsMissing) {
    for (std::size_t n = 0; n < Table::whole().columns.size(); ++n) {
        Table table = Table::whole();
        const std::string name = table.columns[n].first;
        table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(n));
        const auto event = table.read();
        ASSERT_FALSE(event) << name;
        EXPECT_NE(event.error().message.find(name), std::string::npos) << event.error().message;
    }
}

TEST(StreamedRow, RefusesAColumnThatIsNotWhatItShouldBe) {
    const std::map<std::string, std::vector<Field>> wrong{
        {"event_id", {{}, Table::text("0190163d"), {.kind = Field::Kind::binary, .bytes = "short"}}},
        {"position", {{}, Table::text(""), Table::text("7x"), {.kind = Field::Kind::binary, .bytes = "123"}}},
        {"aggregate", {{.kind = Field::Kind::unchanged}}},
        {"payload", {{}, {.kind = Field::Kind::unchanged}}},
        {"created_at",
         {{}, Table::text("soon"), {.kind = Field::Kind::binary, .bytes = "\x7f\xff\xff\xff\xff\xff\xff\xff"}}},
        {"streamed", {{}, Table::text("true"), {.kind = Field::Kind::binary, .bytes = "12"}}}};
    for (const auto& [name, fields] : wrong)
        for (const Field& field : fields) {
            Table table = Table::whole();
            table[name] = field;
            const auto event = table.read();
            ASSERT_FALSE(event) << name;
            EXPECT_NE(event.error().message.find(name), std::string::npos) << event.error().message;
        }
}

TEST(StreamedRow, MayBeShorterThanItsRelationOnlyAtTheCostOfAnError) {
    pgoutput::Relation relation{.id = 1, .schema = "semel", .name = "outbox_event", .columns = {}};
    const Table table = Table::whole();
    for (const auto& [name, field] : table.columns) relation.columns.push_back({.name = name, .type = 0});
    const EventColumns places = EventColumns::of(relation).value();
    const std::vector<Field> fields(3);
    EXPECT_FALSE(StreamedEvent::from({.relation = 1, .fields = fields}, places));
}

}  // namespace
}  // namespace semel::cdc
