#include "semel/cdc/pgoutput.hpp"

#include <gtest/gtest.h>

#include <string>

namespace semel::cdc::pgoutput {
namespace {

/// Bytes as the server writes them.
class Wire {
public:
    explicit Wire(char kind) { bytes.push_back(kind); }
    Wire& byte(int value) {
        bytes.push_back(static_cast<char>(value));
        return *this;
    }
    template <class Number>
    Wire& number(Number value) {
        for (int shift = static_cast<int>(sizeof(Number)) * 8 - 8; shift >= 0; shift -= 8)
            bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xffU));
        return *this;
    }
    Wire& text(std::string_view value) {
        bytes.append(value).push_back('\0');
        return *this;
    }
    Wire& raw(std::string_view value) {
        bytes.append(value);
        return *this;
    }
    std::string bytes;
};

std::string a_begin() {
    return Wire('B').number<std::uint64_t>(0x1600000001).number<std::int64_t>(7).number<std::uint32_t>(42).bytes;
}
std::string a_commit() {
    return Wire('C').byte(0).number<std::uint64_t>(5).number<std::uint64_t>(9).number<std::int64_t>(7).bytes;
}
std::string a_note() {
    return Wire('M').byte(1).number<std::uint64_t>(5).text("semel.cdc").number<std::uint32_t>(3).raw("726").bytes;
}
std::string a_relation() {
    Wire wire('R');
    wire.number<std::uint32_t>(16385).text("semel").text("outbox_event").byte('d').number<std::uint16_t>(2);
    wire.byte(1).text("event_id").number<std::uint32_t>(2950).number<std::int32_t>(-1);
    wire.byte(0).text("payload").number<std::uint32_t>(25).number<std::int32_t>(-1);
    return wire.bytes;
}
std::string a_row() {
    Wire wire('I');
    wire.number<std::uint32_t>(16385).byte('N').number<std::uint16_t>(4);
    wire.byte('n').byte('u').byte('t').number<std::uint32_t>(2).raw("ab");
    wire.byte('b').number<std::uint32_t>(1).raw("\x07");
    return wire.bytes;
}

template <class T>
T read(const std::string& bytes) {
    static Decoder decoder;
    const auto change = decoder.decode(bytes);
    EXPECT_TRUE(change) << change.error().describe();
    EXPECT_TRUE(std::holds_alternative<T>(*change));
    return std::get<T>(*change);
}

TEST(Pgoutput, ReadsATransaction) {
    EXPECT_EQ(read<Begin>(a_begin()).commit.text(), "16/1");
    EXPECT_EQ(read<Begin>(a_begin()).transaction, 42U);
    EXPECT_EQ(read<Commit>(a_commit()).at, Lsn{5});
    EXPECT_EQ(read<Commit>(a_commit()).end, Lsn{9});
}

TEST(Pgoutput, ReadsANote) {
    const std::string bytes = a_note();
    const Note note = read<Note>(bytes);
    EXPECT_TRUE(note.transactional);
    EXPECT_EQ(note.prefix, "semel.cdc");
    EXPECT_EQ(note.content, "726");
}

TEST(Pgoutput, ReadsWhatARelationLooksLike) {
    const std::string bytes = a_relation();
    const Relation relation = read<Relation>(bytes);
    EXPECT_EQ(relation.id, 16385U);
    EXPECT_EQ(relation.schema, "semel");
    EXPECT_EQ(relation.name, "outbox_event");
    ASSERT_EQ(relation.columns.size(), 2U);
    EXPECT_EQ(relation.columns[1].name, "payload");
    EXPECT_EQ(relation.columns[1].type, 25U);
}

TEST(Pgoutput, ReadsARowWithEveryKindOfField) {
    const std::string bytes = a_row();
    const Insert row = read<Insert>(bytes);
    EXPECT_EQ(row.relation, 16385U);
    ASSERT_EQ(row.fields.size(), 4U);
    EXPECT_EQ(row.fields[0].kind, Field::Kind::null);
    EXPECT_EQ(row.fields[1].kind, Field::Kind::unchanged);
    EXPECT_EQ(row.fields[2].kind, Field::Kind::text);
    EXPECT_EQ(row.fields[2].bytes, "ab");
    EXPECT_EQ(row.fields[3].kind, Field::Kind::binary);
    EXPECT_EQ(row.fields[3].bytes, "\x07");
}

TEST(Pgoutput, RefusesEveryTruncationAndEveryByteTooMany) {
    Decoder decoder;
    for (const std::string& whole : {a_begin(), a_commit(), a_note(), a_relation(), a_row()}) {
        ASSERT_TRUE(decoder.decode(whole));
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const auto cut = decoder.decode(std::string_view(whole).substr(0, size));
            ASSERT_FALSE(cut) << whole[0] << " of " << size;
            EXPECT_EQ(cut.error().fault, Fault::broken);
        }
        EXPECT_FALSE(decoder.decode(whole + "x")) << whole[0];
    }
}

TEST(Pgoutput, BelievesNoLengthThatIsNotThere) {
    Decoder decoder;
    Wire row('I');
    row.number<std::uint32_t>(1).byte('N').number<std::uint16_t>(1).byte('t').number<std::uint32_t>(0xffffffff);
    EXPECT_FALSE(decoder.decode(row.raw("short").bytes));
    Wire many('I');
    many.number<std::uint32_t>(1).byte('N').number<std::uint16_t>(0xffff);
    EXPECT_FALSE(decoder.decode(many.bytes));
    Wire columns('R');
    columns.number<std::uint32_t>(1).text("s").text("t").byte('d').number<std::uint16_t>(0xffff);
    EXPECT_FALSE(decoder.decode(columns.bytes));
    Wire note('M');
    note.byte(0).number<std::uint64_t>(1).text("p").number<std::uint32_t>(0x7fffffff);
    EXPECT_FALSE(decoder.decode(note.bytes));
}

TEST(Pgoutput, PassesOverWhatIsOfNoInterestAndRefusesWhatItDoesNotKnow) {
    Decoder decoder;
    for (const char kind : {'O', 'Y', 'U', 'D', 'T'}) {
        const auto change = decoder.decode(std::string(1, kind) + "rest");
        ASSERT_TRUE(change) << kind;
        EXPECT_EQ(std::get<Ignored>(*change).kind, kind);
        EXPECT_FALSE(decoder.decode(std::string(1, kind)));
    }
    EXPECT_FALSE(decoder.decode(""));
    EXPECT_FALSE(decoder.decode("?"));
    EXPECT_FALSE(decoder.decode("Sstream of a transaction that is still open"));
}

TEST(Envelope, IsOpenedAndEveryTruncationRefused) {
    Wire data('w');
    data.number<std::uint64_t>(1).number<std::uint64_t>(2).number<std::int64_t>(3).raw("message");
    const auto opened = open_envelope(data.bytes);
    ASSERT_TRUE(opened);
    EXPECT_EQ(std::get<Data>(*opened).message, "message");
    EXPECT_EQ(std::get<Data>(*opened).end, Lsn{2});
    for (std::size_t size = 0; size < 25; ++size) EXPECT_FALSE(open_envelope(data.bytes.substr(0, size))) << size;
    Wire alive('k');
    alive.number<std::uint64_t>(7).number<std::int64_t>(3).byte(1);
    const auto sign = open_envelope(alive.bytes);
    ASSERT_TRUE(sign);
    EXPECT_EQ(std::get<Keepalive>(*sign).end, Lsn{7});
    EXPECT_TRUE(std::get<Keepalive>(*sign).reply_now);
    for (std::size_t size = 0; size < alive.bytes.size(); ++size)
        EXPECT_FALSE(open_envelope(alive.bytes.substr(0, size))) << size;
    EXPECT_FALSE(open_envelope("x"));
}

TEST(Envelope, TheAnswerConfirmsOnePlace) {
    const StatusUpdate update =
        status_update(Lsn{0x0102030405060708}, Timestamp(std::chrono::microseconds(epoch_microseconds + 1)));
    const std::string place("\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    EXPECT_EQ(std::string(update.data(), update.size()),
              "r" + place + place + place + std::string("\0\0\0\0\0\0\0\x01\0", 9));
}

TEST(LsnText, IsReadAsItIsWritten) {
    EXPECT_EQ(Lsn::parse("16/B374D848").value().text(), "16/B374D848");
    EXPECT_EQ(Lsn::parse("0/0").value(), Lsn());
    EXPECT_EQ(Lsn::parse("FFFFFFFF/FFFFFFFF").value().value, ~std::uint64_t{0});
    for (const char* wrong : {"", "/", "1", "1/", "/1", "1/x", "100000000/0", "1/2/3", " 1/2"})
        EXPECT_FALSE(Lsn::parse(wrong)) << wrong;
}

}  // namespace
}  // namespace semel::cdc::pgoutput
