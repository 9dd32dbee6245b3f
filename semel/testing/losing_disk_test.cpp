#include "semel/testing/losing_disk_platter.hpp"

#include <gtest/gtest.h>

#include <set>

namespace semel::testing {
namespace {

/// A file whose name and content are durable.
class PlatterTest : public ::testing::Test {
protected:
    using Kind = DiskOperation::Kind;

    PlatterTest() {
        platter.apply({.kind = Kind::create, .file = 1, .name = "log"});
        write(0, std::string(1024, 'a'));
        platter.apply({.kind = Kind::sync, .file = 1});
        platter.apply({.kind = Kind::sync_directory});
    }
    void write(std::uint64_t at, std::string bytes) {
        platter.apply({.kind = Kind::write, .file = 1, .at = at, .bytes = std::move(bytes)});
    }

    Platter platter;
    SeededRandom random{1};
};

TEST_F(PlatterTest, LosesWhatWasNotSynced) {
    write(0, "b");
    platter.apply({.kind = Kind::truncate, .file = 1, .at = 10});
    EXPECT_EQ(platter.durable().at("log"), std::string(1024, 'a'));
    platter.apply({.kind = Kind::sync, .file = 1});
    EXPECT_EQ(platter.durable().at("log"), "baaaaaaaaa");
}

TEST_F(PlatterTest, LosesAFileWhoseDirectoryWasNotSyncedAndKeepsOneWhoseRemovalWasNot) {
    platter.apply({.kind = Kind::create, .file = 2, .name = "new"});
    platter.apply({.kind = Kind::write, .file = 2, .bytes = "n"});
    platter.apply({.kind = Kind::sync, .file = 2});
    platter.apply({.kind = Kind::remove, .file = 1, .name = "log"});
    EXPECT_TRUE(platter.durable().contains("log"));
    EXPECT_FALSE(platter.durable().contains("new"));
    platter.apply({.kind = Kind::sync_directory});
    EXPECT_EQ(platter.durable(), (DiskImage{{"new", "n"}}));
}

TEST_F(PlatterTest, NeverKeepsWhatASyncFailedOn) {
    write(0, "b");
    platter.apply({.kind = Kind::sync_in_vain, .file = 1});
    write(1, "c");
    platter.apply({.kind = Kind::sync, .file = 1});
    EXPECT_EQ(platter.durable().at("log").substr(0, 3), "aca");
    EXPECT_EQ(platter.torn(random).at("log").substr(0, 3), "aca");
}

TEST_F(PlatterTest, TearsAtSectorsAndNowhereElse) {
    write(0, std::string(1024, 'b'));
    write(512, std::string(512, 'c'));
    std::set<std::string> seen;
    for (int i = 0; i < 200; ++i) {
        const std::string content = platter.torn(random).at("log");
        ASSERT_EQ(content.size(), 1024U);
        ASSERT_EQ(content.substr(0, 512), std::string(512, content[0]));
        ASSERT_EQ(content.substr(512), std::string(512, content[512]));
        seen.insert({content[0], content[512]});
    }
    EXPECT_EQ(seen, (std::set<std::string>{"aa", "ab", "ac", "ba", "bb", "bc"}));
}

TEST_F(PlatterTest, KeepsTheFirstOfTheNamesThatWereNotSynced) {
    platter.apply({.kind = Kind::remove, .file = 1, .name = "log"});
    platter.apply({.kind = Kind::create, .file = 2, .name = "log"});
    std::set<std::size_t> sizes;
    for (int i = 0; i < 100; ++i) {
        const DiskImage image = platter.torn(random);
        sizes.insert(image.contains("log") ? image.at("log").size() : 1);
    }
    EXPECT_EQ(sizes, (std::set<std::size_t>{0, 1, 1024})) << "the new one, none, the old one";
}

}  // namespace
}  // namespace semel::testing
