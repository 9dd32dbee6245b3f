#include "semel/base/canon.hpp"

#include "semel/base/canon_value_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <nlohmann/json.hpp>

namespace semel {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string canon(std::string_view text) {
    const auto canonical = canonical_json(text);
    return canonical ? *canonical : "refused: " + canonical.error().message;
}

/// Why a document was refused; its fault must be that of the sender.
std::string refusal(std::string_view text) {
    const auto canonical = canonical_json(text);
    if (canonical) return "taken as " + *canonical;
    EXPECT_EQ(canonical.error().fault, Fault::rejected);
    return canonical.error().message;
}

std::string nested(std::size_t depth, char open, char close, std::string_view inside) {
    return std::string(depth, open) + std::string(inside) + std::string(depth, close);
}

/// A property is cheap to check; a hundred cases are few.
template <class Property>
void for_many_seeds(Property property) {
    EXPECT_TRUE(rc::check([&](std::uint32_t start) {
        for (std::uint64_t i = 0; i < 50; ++i) property(std::uint64_t{start} * 50 + i);
    }));
}

TEST(CanonicalJson, FollowsTheExamplesOfRfc8785) {
    // The RFC has 333333333.33333329 here, which a double cannot hold; see the next test.
    EXPECT_EQ(canon(R"({
        "numbers": [333333333.3333333, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    })"),
              R"({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
              "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    EXPECT_EQ(canon(R"({"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
                        "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
                        "\u00f6": "Latin Small Letter O With Diaeresis"})"),
              "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
              "\"\xc3\xb6\":\"Latin Small Letter O With Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\","
              "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\",\"\xef\xac\xb3\":\"Hebrew Letter Dalet With Dagesh\"}");
    EXPECT_EQ(canon(R"([56, {"d": true, "10": null, "1": []}])"), R"([56,{"1":[],"10":null,"d":true}])");
}

TEST(CanonicalJson, KeepsANumberThatADoubleCannotHold) {
    EXPECT_EQ(canon("[333333333.33333329]"), "[3.3333333333333329e+8]");
    EXPECT_NE(canon("9007199254740993"), canon("9007199254740992"));
    EXPECT_NE(canon("0.10000000000000000001"), canon("0.1"));
}

TEST(CanonicalJson, WritesAStringInOneWay) {
    EXPECT_EQ(canon(R"("\/")"), R"("/")");
    EXPECT_EQ(canon(R"("\u007f")"), "\"\x7f\"");
    EXPECT_EQ(canon(R"("\u0000\u001F\u0008\u000C\u000a\u000D\u0009")"), R"("\u0000\u001f\b\f\n\r\t")");
    EXPECT_EQ(canon(R"("\"\\\b\f\n\r\t")"), R"("\"\\\b\f\n\r\t")");
    EXPECT_EQ(canon(R"("\u00E9\uD83D\uDE00\u2028")"), "\"\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xa8\"");
    EXPECT_EQ(canon(R"("")"), R"("")");
    EXPECT_EQ(canon(R"("\uFFFF\u0041")"), "\"\xef\xbf\xbf\x41\"");
    // Unicode forms are not folded: the two ways to write é are two values.
    EXPECT_NE(canon("\"\xc3\xa9\""), canon("\"e\xcc\x81\""));
}

TEST(CanonicalJson, SortsNamesByTheirCodeUnitsWhateverTheirSpelling) {
    EXPECT_EQ(canon("{\"\xef\xac\xb3\":1,\"\xf0\x9f\x98\x80\":2}"), "{\"\xf0\x9f\x98\x80\":2,\"\xef\xac\xb3\":1}");
    EXPECT_EQ(canon("{\"\xee\x80\x80\":1,\"\xf4\x8f\xbf\xbf\":2,\"\xed\x9f\xbf\":3}"),
              "{\"\xed\x9f\xbf\":3,\"\xf4\x8f\xbf\xbf\":2,\"\xee\x80\x80\":1}");
    EXPECT_EQ(canon(R"({"b":1,"\u0061":2})"), R"({"a":2,"b":1})");
    // An escape stands for its character: \n is before a space, \" between ! and #.
    EXPECT_EQ(canon(R"({"#":1,"\"":2,"!":3,"\n":4," ":5,"\\":6,"[":7,"]":8,"\u001f":9,"\u0001":10})"),
              R"({"\u0001":10,"\n":4,"\u001f":9," ":5,"!":3,"\"":2,"#":1,"[":7,"\\":6,"]":8})");
    // The shorter first, and the empty one before all.
    EXPECT_EQ(canon(R"({"aa":1,"a":2,"":3,"aaaaaaaab":4,"aaaaaaaa":5,"aaaaaaaaa":6})"),
              R"({"":3,"a":2,"aa":1,"aaaaaaaa":5,"aaaaaaaaa":6,"aaaaaaaab":4})");
    EXPECT_EQ(canon(R"({"a\u0000":1,"a":2})"), R"({"a":2,"a\u0000":1})");
}

TEST(CanonicalJson, OrdersObjectsInsideObjectsInsideArrays) {
    EXPECT_EQ(canon(R"({"z":[{"b":{"y":1,"x":[{"n":0,"m":0}]},"a":{}},{"a":1,"b":2}],"a":{"d":1,"c":{"f":2,"e":3}}})"),
              R"({"a":{"c":{"e":3,"f":2},"d":1},"z":[{"a":{},"b":{"x":[{"m":0,"n":0}],"y":1}},{"a":1,"b":2}]})");
}

TEST(CanonicalJson, RefusesWhatIsNotJsonAndSaysWhere) {
    EXPECT_THAT(refusal(""), HasSubstr("the document is empty"));
    EXPECT_THAT(refusal(" \n "), HasSubstr("the document is empty"));
    EXPECT_THAT(refusal("\xef\xbb\xbf{}"), HasSubstr("byte order mark"));
    EXPECT_THAT(refusal("{} x"), AllOf(HasSubstr("something follows"), HasSubstr("line 1, column 4 (byte 3)")));
    EXPECT_THAT(refusal("1 2"), HasSubstr("something follows"));
    EXPECT_THAT(refusal("{}\0"s), HasSubstr("something follows"));
    EXPECT_THAT(refusal("[1,\n2,\n  x]"), AllOf(HasSubstr("expected a value"), HasSubstr("line 3, column 3 (byte 9)")));
    EXPECT_THAT(refusal("[\"\xc3\xa9\xc3\xa9\", x]"), HasSubstr("line 1, column 8 (byte 9)"));
    for (const std::string_view early :
         {"[", "[1", "[1,", "{", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "\"", "-", "1.", "1e", "1e+"})
        EXPECT_THAT(refusal(early), HasSubstr("ends too early")) << early;
    for (const std::string_view wrong : {"[1,]",     "[,1]",      "{,}",         "{\"a\":1,}", "{a:1}",
                                         "{'a':1}",  "{\"a\" 1}", "{1:1}",       "[1 2]",      "{\"a\":1 \"b\":2}",
                                         "]",        "}",         ":",           ",",          "tru",
                                         "True",     "nul",       "falsey",      "nulll",      "NaN",
                                         "Infinity", "-Infinity", "'a'",         "//",         "[1/**/]",
                                         "01",       "-01",       "00",          "+1",         ".5",
                                         "1.e5",     "1.5.5",     "0x10",        "1e5.5",      "--1",
                                         "-a",       "\"\\x\"",   "\"\\u12g4\"", "\"\\u123\"", "\"\\",
                                         "\"\\u",    "[\v1]",     "[\f1]",       "\xc2\xa0[]", "undefined"})
        EXPECT_THAT(refusal(wrong), HasSubstr(" at line 1, column ")) << wrong;
}

TEST(CanonicalJson, RefusesControlCharactersInStrings) {
    for (char c = 0; c < 0x20; ++c)
        EXPECT_THAT(refusal("[\"a" + std::string(1, c) + "b\"]"),
                    AllOf(HasSubstr("control character"), HasSubstr("(byte 3)")));
}

TEST(CanonicalJson, RefusesDuplicateNamesHoweverTheyAreSpelled) {
    EXPECT_THAT(refusal(R"({"a":1,"a":2})"), AllOf(HasSubstr("duplicate name"), HasSubstr("(byte 7)")));
    EXPECT_THAT(refusal(R"({"a":1,"b":1,"\u0061":2})"), AllOf(HasSubstr("duplicate name"), HasSubstr("(byte 13)")));
    EXPECT_THAT(refusal(R"({"b":{"x":0,"y":0,"x":0},"a":1})"),
                AllOf(HasSubstr("duplicate name"), HasSubstr("(byte 18)")));
    EXPECT_THAT(refusal(R"({"\n":1,"\u000a":2})"), HasSubstr("duplicate name"));
    EXPECT_THAT(refusal(R"({"":1,"":2})"), HasSubstr("duplicate name"));
    EXPECT_THAT(refusal("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}"), HasSubstr("duplicate name"));
    std::string many = "{";
    for (int i = 0; i < 100; ++i) many += "\"" + std::to_string(i % 99) + "\":0,";
    many.back() = '}';
    EXPECT_THAT(refusal(many), HasSubstr("duplicate name"));
    EXPECT_EQ(canon(R"([{"a":1},{"a":{"a":1}}])"), R"([{"a":1},{"a":{"a":1}}])");
}

TEST(CanonicalJson, RefusesLoneSurrogates) {
    for (const std::string_view lone :
         {R"("\uD800")", R"("\uDEAD")", R"("\uDE00\uD83D")", R"("\uD800\uD800")", R"("\uD800x")", R"("\uD800\n")",
          R"("\uD83D\u0041")", R"({"\uD800":1})", R"({"a":{"\uDC00":1}})", R"("\uD800\uDBFF")"})
        EXPECT_THAT(refusal(lone), HasSubstr("lone surrogate")) << lone;
}

TEST(CanonicalJson, RefusesInvalidUtf8) {
    const std::vector<std::string> wrong{
        "\xff",              // never a byte of UTF-8
        "\x80",              // a continuation without a lead
        "\xc3",              // a lead without its continuation
        "\xc0\xaf",          // an overlong slash
        "\xc1\x81",          // an overlong letter
        "\xe0\x80\xaf",      // overlong in three
        "\xe0\x9f\xbf",      // the last overlong in three
        "\xed\xa0\x80",      // a surrogate
        "\xed\xbf\xbf",      // the last surrogate
        "\xe2\x82",          // cut
        "\xf0\x80\x80\xaf",  // overlong in four
        "\xf0\x8f\xbf\xbf",  // the last overlong in four
        "\xf0\x9f\x98",      // cut
        "\xf4\x90\x80\x80",  // past U+10FFFF
        "\xf5\x80\x80\x80",  // never a lead
        "\xf8\x88\x80\x80\x80",
    };
    for (const std::string& bytes : wrong) {
        EXPECT_THAT(refusal("[\"ab" + bytes + "\"]"), AllOf(HasSubstr("invalid UTF-8"), HasSubstr("(byte 4)")));
        EXPECT_THAT(refusal("{\"" + bytes + "\":1}"), HasSubstr("invalid UTF-8"));
        EXPECT_THAT(refusal("\"" + bytes), HasSubstr("invalid UTF-8"));
    }
    const std::string right =
        "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"";
    EXPECT_EQ(canon(right), right);
}

TEST(CanonicalJson, KeepsToItsLimits) {
    const std::string deep = nested(canonical_json_depth_max, '[', ']', "1");
    EXPECT_EQ(canon(deep), deep);
    EXPECT_THAT(refusal(nested(canonical_json_depth_max + 1, '[', ']', "1")), HasSubstr("nested too deeply"));
    std::string objects;
    for (unsigned i = 0; i < canonical_json_depth_max; ++i) objects += R"({"b":0,"a":)";
    objects += "1" + std::string(canonical_json_depth_max, '}');
    EXPECT_TRUE(canonical_json(objects));
    EXPECT_THAT(refusal("[" + objects + "]"), HasSubstr("nested too deeply"));
    EXPECT_THAT(refusal(std::string(1'000'000, '[')), HasSubstr("nested too deeply"));
    std::string large;
    large.resize(canonical_json_bytes_max - 1, ' ');
    EXPECT_EQ(canon(large + "1"), "1");
    EXPECT_THAT(refusal(large + " 1"), HasSubstr("larger than"));
}

TEST(CanonicalJson, RepeatsNothingOfARefusedDocument) {
    for (const std::string_view text : {R"({"hunter2":1,"hunter2":2})", R"(["hunter2" hunter2])", "[\"hunter2\xff\"]"})
        EXPECT_THAT(refusal(text), ::testing::Not(HasSubstr("hunter")));
}

TEST(CanonicalJson, SurvivesNumbersThatGrow) {
    // Each becomes five times as long; the text grows under the objects that wait to be ordered.
    std::string text = R"({"b":[)";
    std::string expected = R"({"a":1,"b":[)";
    for (int i = 0; i < 5000; ++i) text += "1e20,", expected += "100000000000000000000,";
    text.back() = expected.back() = ']';
    EXPECT_EQ(canon(text + R"(,"a":1})"), expected + "}");
}

TEST(CanonicalJson, OrdersAnObjectOfThousandsOfNames) {
    std::vector<std::string> names;
    for (int i = 0; i < 5000; ++i) names.push_back("name" + std::to_string(i * 7919 % 5000));
    std::string text = "{";
    for (const auto& name : names) text += "\"" + name + "\":{\"b\":1,\"a\":2},";
    std::ranges::sort(names);
    std::string expected = "{";
    for (const auto& name : names) expected += "\"" + name + "\":{\"a\":2,\"b\":1},";
    text.back() = expected.back() = '}';
    EXPECT_EQ(canon(text), expected);
}

TEST(CanonicalJson, IsTheSameHoweverAValueIsWritten) {
    for_many_seeds([](std::uint64_t seed) {
        canon::Writer writer(seed);
        const canon::Value value = writer.any();
        const std::string expected = canon::canonical_value(value);
        const std::string one = writer.write(value);
        RC_ASSERT(canon(one) == expected);
        RC_ASSERT(canon(writer.write(value)) == expected);
        RC_ASSERT(canon(expected) == expected);
    });
}

TEST(CanonicalJson, DiffersWhenALeafDiffers) {
    for_many_seeds([](std::uint64_t seed) {
        canon::Writer writer(seed);
        const canon::Value value = writer.any();
        canon::Value other = value;
        if (!writer.change(other)) return;
        RC_ASSERT(canon(writer.write(value)) != canon(writer.write(other)));
    });
}

TEST(CanonicalJson, MeansTheSameToAnotherReader) {
    for_many_seeds([](std::uint64_t seed) {
        canon::Writer writer(seed);
        const std::string text = writer.write(writer.any());
        const auto original = nlohmann::json::parse(text, nullptr, false);
        if (original.is_discarded()) return;  // It does not read 1e400.
        RC_ASSERT(nlohmann::json::parse(canon(text)) == original);
    });
}

TEST(JsonCanonicaliser, IsAsGoodAsNewAfterARefusalAndAfterAnyOtherDocument) {
    EXPECT_TRUE(rc::check([](std::uint64_t seed) {
        JsonCanonicaliser used;
        for (std::uint64_t i = 0; i < 8; ++i) {
            canon::Writer writer(seed + i);
            std::string text = writer.write(writer.any());
            if (i % 2 == 1) text.resize(text.size() / 2);
            const auto seen = used.canonical(text);
            const auto expected = JsonCanonicaliser().canonical(text).map([](auto view) { return std::string(view); });
            RC_ASSERT(seen.has_value() == expected.has_value());
            if (seen) RC_ASSERT(*seen == *expected);
            if (!seen) RC_ASSERT(seen.error().message == expected.error().message);
        }
    }));
}

TEST(JsonCanonicaliser, GivesBackWhatALargeDocumentTook) {
    JsonCanonicaliser canonicaliser;
    ASSERT_TRUE(canonicaliser.canonical("[" + std::string(2'000'000, ' ') + "]"));
    EXPECT_GT(canonicaliser.retained(), JsonCanonicaliser::retained_max);
    canonicaliser.trim();
    EXPECT_LE(canonicaliser.retained(), JsonCanonicaliser::retained_max);
    ASSERT_TRUE(canonicaliser.canonical(R"({"b":1,"a":2})"));
    const std::size_t retained = canonicaliser.retained();
    canonicaliser.trim();
    EXPECT_EQ(canonicaliser.retained(), retained) << "what is small is kept";
}

}  // namespace
}  // namespace semel
