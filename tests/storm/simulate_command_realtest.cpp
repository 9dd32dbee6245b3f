// `semel simulate` as a person runs it.

#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

namespace semel::storm {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Json = nlohmann::json;

testing::Finished simulate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {SEMEL_BINARY, "simulate"});
    const auto finished = testing::run({.argv = arguments}, 60s);
    EXPECT_TRUE(finished) << finished.error().describe();
    return finished ? *finished : testing::Finished();
}

double figure(const Json& body, const std::string& way, const std::string& name) {
    for (const Json& one : body["ways"])
        if (one["name"] == way) return one["figures"].value(name, -1.0);
    return -1;
}

TEST(SimulateCommand, PlaysEveryScenarioWithFiguresAndAPicture) {
    const auto folder = testing::TempDir::make("simulate").value();
    for (const char* scenario : {"jitter", "bucket", "layers", "metastable", "recovery"}) {
        const std::string file = (folder.path() / (std::string(scenario) + ".svg")).string();
        const auto drawn = simulate({scenario, "--runs", "2", "--clients", "50", "--svg", file});
        EXPECT_EQ(drawn.exit.code, 0) << drawn.error_output;
        EXPECT_THAT(drawn.output, HasSubstr("a full block is"));
        std::ifstream stream(file);
        const std::string svg{std::istreambuf_iterator<char>(stream), {}};
        EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n")) << scenario;
    }
}

TEST(SimulateCommand, GivesTheSameFiguresForTheSameSeed) {
    const auto one = simulate({"jitter", "--runs", "2", "--clients", "100", "--seed", "5", "--json"});
    const auto again = simulate({"jitter", "--runs", "2", "--clients", "100", "--seed", "5", "--json"});
    const auto other = simulate({"jitter", "--runs", "2", "--clients", "100", "--seed", "6", "--json"});
    EXPECT_EQ(one.output, again.output);
    EXPECT_NE(one.output, other.output);
    const Json body = Json::parse(one.output);
    EXPECT_LT(figure(body, "full", "writes"), figure(body, "no delay", "writes"));
}

TEST(SimulateCommand, ShowsThatLayersMultiply) {
    const Json body = Json::parse(simulate({"layers", "--json"}).output);
    EXPECT_EQ(figure(body, "every layer retries", "calls with four layers"), 81);
    EXPECT_EQ(figure(body, "one owner", "calls with four layers"), 3);
}

TEST(SimulateCommand, SaysWhatIsWrongWithItsArguments) {
    EXPECT_EQ(simulate({"hurricane"}).exit.code, 2);
    EXPECT_EQ(simulate({"jitter", "--runs", "0"}).exit.code, 2);
    const auto unwritable = simulate({"layers", "--svg", "/nowhere/at/all.svg"});
    EXPECT_EQ(unwritable.exit.code, 3);
    EXPECT_THAT(unwritable.error_output, HasSubstr("/nowhere/at/all.svg"));
}

}  // namespace
}  // namespace semel::storm
