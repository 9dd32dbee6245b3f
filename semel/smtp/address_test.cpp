#include "semel/smtp/sink.hpp"

#include <gmock/gmock.h>

namespace semel::smtp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SmtpAddress, IsTakenApart) {
    const auto options = sink_options(
        "smtps://me:p%40ss@mail.example:465?to=a%40x.example&to=b@x.example&from=s@x.example&mode=structured&source=/"
        "s");
    ASSERT_TRUE(options) << options.error().describe();
    EXPECT_EQ(options->server, "smtps://mail.example:465");
    EXPECT_EQ(options->user, "me");
    EXPECT_EQ(options->password, "p@ss");
    EXPECT_THAT(options->letterhead.to, ElementsAre("a@x.example", "b@x.example"));
    EXPECT_EQ(options->letterhead.from, "s@x.example");
    EXPECT_EQ(options->letterhead.mode, Mode::structured);
    EXPECT_EQ(options->letterhead.event.source, "/s");
    EXPECT_EQ(options->tls, Tls::required);
    EXPECT_TRUE(SmtpSink::open(*options));
}

TEST(SmtpAddress, SaysWhatIsWrongAndShowsNoPassword) {
    const auto why = [](std::string_view address) {
        auto options = sink_options(address);
        if (!options) return options.error().describe();
        const auto sink = SmtpSink::open(*std::move(options));
        return sink ? std::string() : sink.error().describe();
    };
    EXPECT_THAT(why("no url at all"), HasSubstr("smtp://"));
    EXPECT_THAT(why("http://host?to=a@b&from=c@d"), HasSubstr("smtp://"));
    EXPECT_THAT(why("smtp://host/path?to=a@b&from=c@d"), HasSubstr("no path"));
    EXPECT_THAT(why("smtp://host?to=a@b"), HasSubstr("`from`"));
    EXPECT_THAT(why("smtp://host?from=a@b"), HasSubstr("`to`"));
    EXPECT_THAT(why("smtp://host?from=a@b&to=nobody"), HasSubstr("no mail address"));
    EXPECT_THAT(why("smtp://host?from=a@b&to=c@d%0d%0aBcc:x"), HasSubstr("no mail address"));
    EXPECT_THAT(why("smtp://host?from=a@b&to=c@d&tls=maybe"), HasSubstr("required or none"));
    EXPECT_THAT(why("smtp://host?from=a@b&to=c@d&mode=x"), HasSubstr("binary or structured"));
    EXPECT_THAT(why("smtp://host?from=a@b&to=c@d&cc=x"), HasSubstr("cc"));
    EXPECT_THAT(why("smtp://one,two?from=a@b&to=c@d"), HasSubstr("more than one server"));
    EXPECT_THAT(why("smtp://host?from=a@b&from=c@d&to=e@f"), HasSubstr("sets from twice"));
    const std::string plain = why("smtp://me:geheim@host?from=a@b&to=c@d&tls=none");
    EXPECT_THAT(plain, HasSubstr("without TLS"));
    EXPECT_THAT(plain, Not(HasSubstr("geheim")));
}

}  // namespace
}  // namespace semel::smtp
