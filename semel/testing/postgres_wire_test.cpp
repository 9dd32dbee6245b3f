#include "semel/testing/postgres_wire.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace semel::testing {
namespace {

using Direction = MessageScanner::Direction;

std::string number(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes.push_back(static_cast<char>(value >> static_cast<unsigned>(shift)));
    return bytes;
}
std::string message(char type, const std::string& body) {
    return std::string(1, type) + number(static_cast<std::uint32_t>(body.size() + 4)) + body;
}
std::string untyped(std::uint32_t code, const std::string& body = "") {
    return number(static_cast<std::uint32_t>(body.size() + 8)) + number(code) + body;
}
std::string text(const std::string& value) { return value + '\0'; }

constexpr std::uint32_t protocol_3 = 3U << 16U;

/// The types of the messages that end in `bytes`, given `step` bytes at a time.
std::string types(MessageScanner scanner, std::string_view bytes, std::size_t step) {
    std::string found;
    std::string buffer;
    while (!bytes.empty()) {
        buffer.append(bytes.substr(0, step));
        bytes.remove_prefix(std::min(step, bytes.size()));
        while (const auto piece = scanner.look(buffer)) {
            if (piece->last) found.push_back(piece->type);
            scanner.consume(*piece);
            buffer.erase(0, piece->bytes.size());
        }
    }
    return found;
}

TEST(MessageScanner, FindsTheSameMessagesHoweverTheBytesAreCut) {
    const std::string conversation =
        untyped(80877103) + untyped(80877104) + untyped(protocol_3, text("user") + text("me") + '\0') +
        message('Q', text("SELECT 1")) + message('d', std::string(100'000, 'x')) + message('X', "");
    for (const std::size_t step : {1U, 2U, 5U, 7U, 4'096U, 1'000'000U})
        EXPECT_EQ(types(MessageScanner(Direction::from_client), conversation, step), "120QdX") << step;
}

TEST(MessageScanner, ServerMessagesHaveATypeFromTheStart) {
    EXPECT_EQ(types(MessageScanner(Direction::from_server), message('R', number(0)) + message('Z', "I"), 3), "RZ");
}

TEST(MessageScanner, ShortMessagesComeWholeAndLongOnesInPieces) {
    const MessageScanner scanner(Direction::from_server);
    const std::string small = message('D', std::string(1'000, 'x'));
    EXPECT_FALSE(scanner.look(small.substr(0, 900)));
    EXPECT_TRUE(scanner.look(small)->whole());
    const std::string large = message('D', std::string(MessageScanner::whole_max, 'x'));
    const auto piece = scanner.look(large.substr(0, 900));
    ASSERT_TRUE(piece);
    EXPECT_TRUE(piece->first);
    EXPECT_FALSE(piece->last);
}

TEST(MessageScanner, CancelRequestIsAConversationOfItsOwn) {
    EXPECT_EQ(types(MessageScanner(Direction::from_client), untyped(80877102, number(1) + number(2)), 16), "3");
}

TEST(MessageScanner, ImpossibleLengthPassesAsOneEndlessMessage) {
    MessageScanner scanner(Direction::from_server);
    const std::string nonsense = "x" + number(1) + "whatever follows";
    const auto piece = scanner.look(nonsense);
    ASSERT_TRUE(piece);
    EXPECT_EQ(piece->bytes.size(), nonsense.size());
    scanner.consume(*piece);
    EXPECT_FALSE(scanner.look("more")->last);
}

class CommitDetectorTest : public ::testing::Test {
protected:
    bool sees_commit(char type, const std::string& body) {
        const std::string bytes = message(type, body);
        return detector_.is_commit({.type = type, .first = true, .last = true, .bytes = bytes});
    }
    static std::string parse(const std::string& name, const std::string& sql) {
        return text(name) + text(sql) + "\0\0";
    }
    static std::string bind(const std::string& portal, const std::string& statement) {
        return text(portal) + text(statement);
    }
    static std::string execute(const std::string& portal) { return text(portal) + number(0); }
    CommitDetector detector_;
};

TEST_F(CommitDetectorTest, SeesCommitInASimpleQuery) {
    for (const char* sql :
         {"COMMIT", "commit;", " Commit ; ", "END", "COMMIT WORK", "INSERT INTO t VALUES (1); COMMIT"})
        EXPECT_TRUE(sees_commit('Q', text(sql))) << sql;
    for (const char* sql : {"", ";", "ROLLBACK", "SELECT 'COMMIT'", "COMMITTED", "COMMIT; SELECT 1"})
        EXPECT_FALSE(sees_commit('Q', text(sql))) << sql;
}

TEST_F(CommitDetectorTest, SeesTheExecutionOfAnUnnamedCommit) {
    EXPECT_FALSE(sees_commit('P', parse("", "COMMIT")));
    EXPECT_FALSE(sees_commit('B', bind("", "")));
    EXPECT_TRUE(sees_commit('E', execute("")));
    EXPECT_FALSE(sees_commit('P', parse("", "SELECT 1")));
    EXPECT_FALSE(sees_commit('B', bind("", "")));
    EXPECT_FALSE(sees_commit('E', execute("")));
}

TEST_F(CommitDetectorTest, RemembersACommitPreparedLongAgo) {
    EXPECT_FALSE(sees_commit('P', parse("c", "COMMIT")));
    EXPECT_FALSE(sees_commit('P', parse("s", "SELECT 1")));
    EXPECT_FALSE(sees_commit('B', bind("", "s")));
    EXPECT_FALSE(sees_commit('E', execute("")));
    EXPECT_FALSE(sees_commit('B', bind("p", "c")));
    EXPECT_TRUE(sees_commit('E', execute("p")));
    EXPECT_FALSE(sees_commit('C', "S" + text("c")));
    EXPECT_FALSE(sees_commit('B', bind("p", "c")));
    EXPECT_FALSE(sees_commit('E', execute("p")));
}

}  // namespace
}  // namespace semel::testing
