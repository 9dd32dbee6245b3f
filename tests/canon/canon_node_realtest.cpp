// What ECMAScript says about a million numbers and many documents.

#include "semel/base/canon.hpp"
#include "semel/base/canon_value_test.hpp"
#include "semel/testing/process.hpp"
#include "semel/testing/temp_dir.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>

namespace semel {
namespace {

using namespace std::chrono_literals;

constexpr int numbers = 1'000'000;
constexpr int documents = 20'000;
/// Fixed, so that a failure is there again the next time.
constexpr std::uint64_t seed = 20240229;

template <class... Format>
std::string printed(double value, Format... format) {
    std::array<char, 2000> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format...).ptr;
    return {text.data(), end};
}

std::string random_digits(Random& random, std::uint64_t count) {
    std::string digits;
    for (std::uint64_t i = 0; i < count; ++i) digits.push_back(static_cast<char>('0' + random.below(10)));
    return digits;
}

std::string without_leading_zeros(std::string digits) {
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    return digits;
}

/// A literal as anybody may write one.
std::string literal(Random& random, std::uint64_t digits_max, std::uint64_t exponent_max) {
    std::string text = random.below(2) == 0 ? "-" : "";
    text += without_leading_zeros(random_digits(random, 1 + random.below(digits_max)));
    if (random.below(2) == 0) text += "." + random_digits(random, 1 + random.below(digits_max));
    if (random.below(2) == 0)
        text += (random.below(2) == 0 ? "e" : "E-") + std::to_string(random.below(exponent_max + 1));
    return text;
}

double random_double(Random& random, std::uint64_t mask) {
    for (;;) {
        const auto value = std::bit_cast<double>(random.next() & mask);
        if (std::isfinite(value)) return value;
    }
}

std::string number(Random& random) {
    constexpr std::uint64_t any = ~std::uint64_t{0};
    constexpr std::uint64_t subnormal = 0x800fffffffffffff;
    using Format = std::chars_format;
    switch (random.below(12)) {
        case 0: return printed(random_double(random, any), Format::scientific);
        case 1:
            return printed(random_double(random, any), Format::scientific, 16);  // 17 digits: often not the shortest
        case 2: return printed(random_double(random, any), Format::scientific, 20);
        case 3: return printed(random_double(random, subnormal), Format::scientific);
        case 4: return printed(random_double(random, any), Format::scientific, static_cast<int>(random.below(16)));
        case 5: return literal(random, 8, 12);
        case 6: return literal(random, 17, 330);
        case 7: return literal(random, 60, 400);
        case 8: return std::to_string((std::uint64_t{1} << 53U) - 2000 + random.below(4000));
        case 9: return without_leading_zeros(random_digits(random, 14 + random.below(9)));
        case 10: return "0." + std::string(random.below(9), '0') + random_digits(random, 1 + random.below(17));
        default: {
            const double value = random_double(random, any);
            if (std::fabs(value) > 1e40 || std::fabs(value) < 1e-40) return printed(value, Format::scientific, 17);
            return printed(value, Format::fixed);
        }
    }
}

std::string read(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

/// Has one Node process work through all lines, and compares line by line.
void expect_as_node(const std::string& mode, int count, const std::function<std::string(int)>& line) {
    ASSERT_FALSE(testing::find_program("node").empty()) << "Node.js is missing; make setup installs it";
    auto directory = testing::TempDir::make("canon");
    ASSERT_TRUE(directory) << directory.error().describe();
    const auto input = directory->path() / "input";
    const auto output = directory->path() / "output";
    std::vector<std::string> lines;
    for (int i = 0; i < count; ++i) lines.push_back(line(i));
    {
        std::ofstream file(input, std::ios::binary);
        for (const std::string& one : lines) file << one << '\n';
    }
    const auto node = testing::run({.argv = {"node", NODE_SCRIPT, mode, input, output}}, 90s);
    ASSERT_TRUE(node) << node.error().describe();
    ASSERT_TRUE(node->exit.success()) << node->exit.text() << "\n" << node->error_output;

    std::istringstream expected(read(output));
    std::string want;
    JsonCanonicaliser canonicaliser;
    int compared = 0;
    int wrong = 0;
    for (; compared < count && std::getline(expected, want); ++compared) {
        const auto have = canonicaliser.canonical(lines[static_cast<std::size_t>(compared)]);
        if (have && *have == want) continue;
        ADD_FAILURE() << lines[static_cast<std::size_t>(compared)] << "\n  is    "
                      << (have ? std::string(*have) : have.error().message) << "\n  wants " << want;
        if (++wrong == 20) break;
    }
    EXPECT_TRUE(wrong > 0 || compared == count) << "only " << compared << " lines came back";
}

TEST(CanonicalJsonAndNode, AgreeOnAMillionNumbers) {
    SeededRandom random(seed);
    expect_as_node("numbers", numbers, [&](int) { return number(random); });
}

/// Node knows only doubles, so a number that they cannot hold is replaced.
void keep_to_doubles(canon::Value& value) {
    if (value.token.find("993") != std::string::npos || value.token.find("400") != std::string::npos)
        value.token = "1.5";
    for (canon::Value& item : value.items) keep_to_doubles(item);
}

TEST(CanonicalJsonAndNode, AgreeOnDocuments) {
    expect_as_node("documents", documents, [](int i) {
        canon::Writer writer(seed + static_cast<std::uint64_t>(i));
        canon::Value value = writer.any();
        keep_to_doubles(value);
        std::string text = writer.write(value);
        std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
        return text;
    });
}

}  // namespace
}  // namespace semel
