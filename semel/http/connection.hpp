#pragma once

#include "semel/http/conversation.hpp"
#include "semel/http/link.hpp"
#include "semel/http/loop.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace semel::http {

/// What plain and TLS connections have in common: a Conversation, its place in the loop's table, and
/// what the loop can do to it. On the loop's thread, like everything below.
class Connection : public Link {
public:
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// The limit of what it waits for has run out.
    void expire();
    /// Ends it without a word.
    void shut();
    /// Nothing of a request has come, and nothing lies in the socket.
    [[nodiscard]] bool is_unused() const;
    [[nodiscard]] std::size_t requests() const noexcept { return talk_.requests(); }

protected:
    /// How long, and for how much, an answer waits for the other side to stop sending.
    static constexpr Duration farewell_limit = std::chrono::seconds(1);
    static constexpr std::size_t farewell_bytes_max = 1024 * 1024;

    Connection(Loop& loop, std::string peer);
    ~Connection();

    /// The derived class has its socket; the loop may reach for it from now on.
    void enlist(boost::asio::ip::tcp::socket& socket, std::weak_ptr<Connection> self);
    /// Tells the loop what this waits for. What it waited for already keeps its limit.
    void await(Waiting what);
    /// The loop need not think of it any more.
    void forget() noexcept;
    void close() noexcept;

    Loop& loop_;
    boost::asio::ip::tcp::socket* socket_ = nullptr;
    boost::asio::steady_timer gate_;  // Never runs out; cancelled to wake the coroutine.
    std::shared_ptr<std::weak_ptr<Connection>> self_;
    Conversation talk_;
    bool served_ = false;
    bool expired_ = false;
    bool shut_ = false;
    bool renewed_ = false;  // The next wait is another one, even if it has the same name.

private:
    void wake() noexcept;
    [[nodiscard]] Duration limit_of(Waiting what) const noexcept;

    bool counted_ = false;
};

/// Serves a new connection on its loop until one side closes.
void serve_plain(Loop& loop, boost::asio::ip::tcp::socket socket, std::string peer);
void serve_tls(Loop& loop, boost::asio::ip::tcp::socket socket, boost::asio::ssl::context& tls, std::string peer);

}  // namespace semel::http
