#include "semel/base/server_url.hpp"

#include "semel/base/url_settings.hpp"

#include <gmock/gmock.h>

#include <array>

namespace semel {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr std::array<std::string_view, 2> schemes{"post", "posts"};
constexpr ServerUrlForm form{
    .name = "post URL", .schemes = schemes, .example = "post://host:25/box?name=value", .repeatable = "to"};

ServerUrl parsed(std::string_view text) {
    const auto url = parse_server_url(text, form);
    EXPECT_TRUE(url) << text << ": " << url.error().describe();
    return url.value_or(ServerUrl());
}

std::string why(std::string_view text) {
    const auto url = parse_server_url(text, form);
    EXPECT_FALSE(url) << text;
    if (url) return "";
    EXPECT_EQ(url.error().fault, Fault::rejected);
    EXPECT_EQ(url.error().cause.hint, "write it as post://host:25/box?name=value");
    return url.error().message;
}

TEST(ServerUrl, IsTakenApart) {
    const ServerUrl url =
        parsed("posts://us%40er:pa%3Ass@one:4333,two,[::1]:4444,[fe80::2]/in%2Fbox/7?a=%26b&to=1&to=2");
    EXPECT_EQ(url.scheme, "posts");
    EXPECT_EQ(url.user, "us@er");
    EXPECT_EQ(url.password, "pa:ss");
    EXPECT_EQ(url.servers, (std::vector<UrlServer>{{"one", 4333}, {"two", {}}, {"::1", 4444}, {"fe80::2", {}}}));
    EXPECT_EQ(url.path, "in/box/7");
    EXPECT_THAT(url.settings, ElementsAre(Pair("a", "&b"), Pair("to", "1"), Pair("to", "2")));
    std::string written;
    for (const UrlServer& one : url.servers) written += one.text() + " ";
    EXPECT_EQ(written, "one:4333 two [::1]:4444 [fe80::2] ");
}

TEST(ServerUrl, NeedsNoMoreThanAHost) {
    for (const char* text : {"post://host", "post://host/", "post://host?", "post://host/?", "post://host,"}) {
        const ServerUrl url = parsed(text);
        EXPECT_EQ(url.servers, (std::vector<UrlServer>{{"host", {}}})) << text;
        EXPECT_EQ(url.user, std::nullopt);
        EXPECT_EQ(url.password, std::nullopt);
        EXPECT_EQ(url.path, "");
        EXPECT_TRUE(url.settings.empty());
    }
    EXPECT_EQ(parsed("post://token@host").user, "token");
    EXPECT_EQ(parsed("post://token@host").password, std::nullopt) << "none is something else than an empty one";
    EXPECT_EQ(parsed("post://token:@host").password, "");
    EXPECT_EQ(parsed("post://me:p@ss@host").password, "p@ss") << "it should be encoded, and is meant all the same";
    EXPECT_THAT(parsed("post://host?flag&a=b=c").settings, ElementsAre(Pair("a", "b=c"), Pair("flag", "")));
}

TEST(ServerUrl, SaysWhatIsWrong) {
    EXPECT_THAT(why(""), HasSubstr("does not begin with post:// or posts://"));
    EXPECT_THAT(why("mail://host"), HasSubstr("the post URL does not begin"));
    EXPECT_THAT(why("post:/host"), HasSubstr("does not begin"));
    for (const char* text : {"post://", "post:///path", "post://:25", "post://a,,b", "post://[]", "post://me@"})
        EXPECT_THAT(why(text), HasSubstr("names no host")) << text;
    for (const char* text :
         {"post://[::1", "post://[::1]x", "post://ho st", "post://ho\nst", "post://a]b", "post://h\\x"})
        EXPECT_THAT(why(text), HasSubstr("neither a name nor an address")) << text;
    for (const char* text : {"post://h:", "post://h:0", "post://h:65536", "post://h:x", "post://h:1x", "post://h:-1",
                             "post://h:+1", "post://[::1]:", "post://fe80::1"})
        EXPECT_THAT(why(text), HasSubstr("1 to 65535")) << text;
    for (const char* text : {"post://u%:p@h", "post://u:%zz@h", "post://u:%00@h"})
        EXPECT_THAT(why(text), HasSubstr("user or password")) << text;
    for (const char* text : {"post://h/%", "post://h/%g0", "post://h/%00"})
        EXPECT_THAT(why(text), HasSubstr("path")) << text;
    for (const char* text : {"post://h?=1", "post://h?&", "post://h?a=%", "post://h?%=1", "post://h?a=%00"})
        EXPECT_THAT(why(text), HasSubstr("name=value")) << text;
    EXPECT_THAT(why("post://h?a=1&b=2&a=3"), HasSubstr("sets a twice"));
    EXPECT_THAT(why(std::string_view("post://h/a\0b", 12)), HasSubstr("path")) << "a zero that is not even encoded";
}

TEST(ServerUrl, ShowsNoSecretWhateverIsWrong) {
    for (const char* text : {"http://u:hunter2@h", "post://u:hunter2@", "post://u:hunter2@h:x", "post://u:hunter2%@h",
                             "post://u:hunter2@h/%", "post://u:hunter2@h?a=1&a=hunter2", "post://u:hunter2@[h",
                             "post://hunter2@h o", "post://h?a=hunter2%", "post://u:20?hunter2@h/v",
                             "post://u?hunter2@h", "post://u:12/hunter2@h:90/v", "post://u:p@q/hunter2@h"})
        EXPECT_THAT(why(text), Not(HasSubstr("hunter2"))) << text;
}

TEST(ServerUrl, GivesASettingAwayOnce) {
    ServerUrl url = parsed("post://h?a=1&b=2");
    EXPECT_EQ(url.take("a"), "1");
    EXPECT_EQ(url.take("a"), std::nullopt);
    EXPECT_THAT(url.settings, ElementsAre(Pair("b", "2")));
}

struct Read {
    std::string text = "before";
    bool flag = true;
    std::size_t number = 1;
    std::uint16_t small = 1;
    Duration time{};
    Duration seconds{};
    int mode = 0;

    Status read(std::string_view settings) {
        UrlSettings known;
        known.text("text", text).flag("flag", flag).number("number", number).number("small", small);
        known.time("time", time).seconds("seconds", seconds).choice<int>("mode", {{"one", 1}, {"two", 2}}, mode);
        return known.read(parsed("post://h?" + std::string(settings)).settings, form.name, "ca");
    }
};

TEST(UrlSettings, GoWhereTheyBelong) {
    Read got;
    const Status read = got.read("text=a%20b&flag=false&number=18&small=65535&time=500ms&seconds=7&mode=two");
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(got.text, "a b");
    EXPECT_FALSE(got.flag);
    EXPECT_EQ(got.number, 18U);
    EXPECT_EQ(got.small, 65'535);
    EXPECT_EQ(got.time, 500ms);
    EXPECT_EQ(got.seconds, 7s);
    EXPECT_EQ(got.mode, 2);
    Read untouched;
    ASSERT_TRUE(untouched.read("seconds=2m"));
    EXPECT_EQ(untouched.seconds, 2min);
    EXPECT_EQ(untouched.text, "before");
}

TEST(UrlSettings, RefuseWhatTheyCannotBeAndShowNoValue) {
    for (const char* wrong :
         {"text=", "flag=secret", "flag=", "number=0", "number=-1", "number=secret", "number=1secret",
          "number=", "number=99999999999999999999", "small=65536", "time=10", "time=0s", "time=10secret",
          "time=10000001m", "time=", "seconds=secret", "seconds=0", "seconds=1h", "mode=secret"}) {
        const Status read = Read().read(wrong);
        ASSERT_FALSE(read) << wrong;
        EXPECT_EQ(read.error().fault, Fault::rejected);
        EXPECT_THAT(read.error().describe(),
                    AllOf(HasSubstr("the post URL sets "), HasSubstr("it is "), Not(HasSubstr("secret"))))
            << wrong;
    }
    EXPECT_THAT(Read().read("mode=three").error().message,
                HasSubstr("sets mode to something it cannot be: it is one or two"));
    EXPECT_THAT(Read().read("small=0").error().message, HasSubstr("from 1 to 65535"));
}

TEST(UrlSettings, NameThoseThatAreKnown) {
    const Status read = Read().read("colour=secret");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, "the post URL sets colour, which means nothing here");
    EXPECT_EQ(read.error().cause.hint, "known are ca, flag, mode, number, seconds, small, text, time");
    EXPECT_THAT(UrlSettings().read({{"a", "1"}}, form.name).error().cause.hint, Not(HasSubstr(",")));
}

}  // namespace
}  // namespace semel
