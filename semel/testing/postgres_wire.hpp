#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace semel::testing {

/// Names of the four messages that come without a type byte, at the start of a conversation.
namespace wire {
inline constexpr char startup = '0';
inline constexpr char ssl_request = '1';
inline constexpr char gss_request = '2';
inline constexpr char cancel_request = '3';
}  // namespace wire

/// Finds the messages in one direction of a PostgreSQL conversation. No sockets: bytes in, pieces
/// out. A short message comes out whole, a long one in several pieces, so that nothing has to be
/// kept for it.
class MessageScanner {
public:
    /// Messages up to this size (a start-up message, any COMMIT) come out in one piece.
    static constexpr std::size_t whole_max = 16 * 1024;

    struct Piece {
        char type = 0;
        bool first = false;
        bool last = false;
        std::string_view bytes;  ///< With the header; a prefix of what was given.
        [[nodiscard]] bool whole() const noexcept { return first && last; }
        /// What follows type and length. Of a whole message with a type byte.
        [[nodiscard]] std::string_view body() const noexcept { return bytes.substr(5); }
    };

    enum class Direction : unsigned char { from_client, from_server };
    explicit MessageScanner(Direction direction) noexcept : starting_(direction == Direction::from_client) {}

    /// The next piece at the front of `bytes`; empty: more are needed. Looks only; `consume` moves
    /// on. A length that cannot be makes the rest of the conversation one endless piece.
    [[nodiscard]] std::optional<Piece> look(std::string_view bytes) const;
    void consume(const Piece& piece);

private:
    struct Header {
        char type = 0;
        std::uint64_t size = 0;  ///< Of the whole message, header included.
    };
    [[nodiscard]] std::optional<Header> header(std::string_view bytes) const;

    bool starting_;
    char type_ = 0;           ///< Of the message we are in the middle of.
    std::uint64_t left_ = 0;  ///< Of its bytes.
};

/// Watches what a client sends and says when it is a COMMIT that the server will carry out: a
/// simple query that ends with COMMIT, or the execution of a portal whose statement is COMMIT,
/// named or not, however long ago it was prepared.
class CommitDetector {
public:
    /// Give it every whole message in order.
    [[nodiscard]] bool is_commit(const MessageScanner::Piece& message);

private:
    std::set<std::string, std::less<>> statements_;  ///< Prepared statements that are COMMIT.
    std::set<std::string, std::less<>> portals_;     ///< Portals bound to one of them.
};

}  // namespace semel::testing
