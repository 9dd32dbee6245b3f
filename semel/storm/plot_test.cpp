#include "semel/storm/plot.hpp"

#include <gmock/gmock.h>

namespace semel::storm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Chart sample() {
    return {
        .title = "calls & <waits>",
        .x_name = "s",
        .y_name = "calls",
        .curves = {{.name = "one", .points = {{0, 0}, {1, 8}, {2, 4}}}, {.name = "two", .points = {{0, 1}, {2, 1}}}}};
}

TEST(StormPlot, DrawsEachCurveAndEscapesItsTexts) {
    const std::string svg = svg_of(sample());
    EXPECT_THAT(svg, HasSubstr("calls &amp; &lt;waits&gt;"));
    EXPECT_THAT(svg, Not(HasSubstr("<waits>")));
    std::size_t lines = 0;
    for (std::size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) ++lines;
    EXPECT_EQ(lines, 2U);
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(StormPlot, DrawsInTheTerminalToOneScale) {
    EXPECT_EQ(text_of(sample(), 3),
              "calls & <waits>\n"
              "one  █▄\n"
              "two ▁ ▁\n"
              "    s 0 to 2; a full block is 8 calls\n");
}

TEST(StormPlot, BearsAChartWithNothingInIt) {
    EXPECT_THAT(svg_of({}), Not(HasSubstr("nan")));
    EXPECT_FALSE(text_of({}).empty());
}

}  // namespace
}  // namespace semel::storm
