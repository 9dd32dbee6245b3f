#pragma once

#include "semel/testing/file_descriptor.hpp"
#include "semel/testing/postgres_wire.hpp"
#include "semel/testing/proxy_book.hpp"

#include <poll.h>

#include <optional>
#include <string>

namespace semel::testing::detail {

/// One end of a proxied connection: a socket with what was read and what is to be written.
struct ProxyEnd {
    FileDescriptor socket;
    std::string in;
    std::string out;
    bool read_ended = false;  ///< The other side sent its last, or is gone.
    bool finishing = false;   ///< Ends the stream once `out` is written.
    bool finished = false;

    static constexpr std::size_t buffer_max = 64 * 1024;
    void read();
    void write();
    void finish() noexcept { finishing = true; }
    void reset() noexcept;
    [[nodiscard]] short events() const noexcept;
};

/// One conversation through the proxy. Sockets never block; the proxy's loop says when to look
/// and what time it is.
class ProxyConnection {
public:
    /// Without a server it is one that is accepted and ignored.
    ProxyConnection(FileDescriptor client, FileDescriptor server, ProxyBook& book);

    [[nodiscard]] pollfd poll_client() const noexcept;
    [[nodiscard]] pollfd poll_server() const noexcept;
    /// When to look again even if nothing happens on the sockets.
    [[nodiscard]] Instant wake_at() const noexcept { return fire_at_; }
    /// Reads, passes on, writes, and does what the plan says.
    void step(Instant now, short client_events, short server_events);
    void release();
    void cut(const ProxyPlan& plan);
    [[nodiscard]] bool over() const noexcept { return !client_.socket.is_open() && !server_.socket.is_open(); }

private:
    void pass_frontend();
    void pass_backend();
    [[nodiscard]] bool pass_one_frontend(const MessageScanner::Piece& piece);
    [[nodiscard]] bool is_for_server(const MessageScanner::Piece& piece);
    [[nodiscard]] bool may_pass_commit();
    void after_message(const MessageScanner::Piece& piece);
    void end_streams();
    void arm(const ProxyPlan& plan);
    void fire();
    void deliver_held();

    ProxyBook* book_;
    ProxyEnd client_;
    ProxyEnd server_;
    bool ignored_;
    bool cut_ = false;  ///< Nothing passes any more; what remains open stays so until its other end leaves.
    MessageScanner from_client_{MessageScanner::Direction::from_client};
    MessageScanner from_server_{MessageScanner::Direction::from_server};
    CommitDetector detector_;

    std::optional<ProxyPlan> own_plan_;
    std::optional<ProxyPlan> committing_;  ///< Waits for COMMIT to be sent or answered.
    std::optional<ProxyPlan> armed_;       ///< Its moment has come; fires at `fire_at_`.
    Instant fire_at_ = Instant::max();
    bool judged_ = false;        ///< The COMMIT at the front has been looked at already.
    bool sync_follows_ = false;  ///< COMMIT went out by the extended protocol; its Sync has not.
    bool hold_frontend_ = false;
    bool hold_backend_ = false;
    std::string held_;  ///< Answers that wait for release, or for the cut.
    std::uint64_t messages_ = 0;
    std::uint64_t syncs_ = 1;    ///< Messages that the server answers with ReadyForQuery; start-up is one.
    std::uint64_t readies_ = 0;  ///< Those answers.
    std::uint64_t ready_before_commit_ = 0;
};

}  // namespace semel::testing::detail
