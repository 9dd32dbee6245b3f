#pragma once

#include "semel/http/core.hpp"
#include "semel/http/link.hpp"
#include "semel/http/workers.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace semel::http {

/// One event loop with the connections it serves, on one thread of its own. Connections never move
/// between loops, so nothing in here needs a lock.
class Loop {
public:
    /// `tls` null: plain. `closed` is called when a connection is gone.
    Loop(Core& core, Workers& workers, boost::asio::ssl::context* tls, std::size_t connections_max,
         std::function<void()> closed);

    [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }
    /// Serves a new connection; at the limit another gives way. On this loop's thread.
    void adopt(boost::asio::ip::tcp::socket socket);
    /// Looks at the time limits from now on. Before the loop's thread starts.
    void start();
    /// Closes every connection. On this loop's thread.
    void close_all();

    // For its connections.
    [[nodiscard]] Core& core() noexcept { return core_; }
    [[nodiscard]] Workers& workers() noexcept { return workers_; }
    [[nodiscard]] LinkTable& table() noexcept { return table_; }
    [[nodiscard]] DateCache& date() noexcept { return date_; }
    void on_closed() const { closed_(); }

private:
    static boost::asio::awaitable<void> tick(Loop& loop);
    void sweep();
    void refuse(boost::asio::ip::tcp::socket socket);

    Core& core_;
    Workers& workers_;
    boost::asio::ssl::context* tls_;
    std::size_t connections_max_;
    std::function<void()> closed_;
    DateCache date_;
    LinkTable table_{};
    // Last, so that it is destroyed first: what it still holds refers to the table.
    boost::asio::io_context context_{1};
};

}  // namespace semel::http
