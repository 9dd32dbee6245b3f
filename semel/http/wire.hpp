#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/client.hpp"
#include "semel/http/message.hpp"
#include "semel/http/url.hpp"
#include "semel/retry/deadline.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace semel::http {

/// A client's connection to one server, plain or TLS. Every step has its limit; the error of the one
/// that ran out says which. On the client's own loop.
class Wire : public std::enable_shared_from_this<Wire> {
public:
    Wire(boost::asio::io_context& context, Clock& clock, const ClientOptions& options);

    /// Resolves, connects and shakes hands before `end`.
    [[nodiscard]] boost::asio::awaitable<Status> open(Url url, boost::asio::ssl::context& tls, Deadline end);
    /// Sends the request and reads the answer before `end`. A failure says by its Fault whether anything was
    /// sent.
    [[nodiscard]] boost::asio::awaitable<Result<Response>> exchange(std::string_view head, std::string_view body,
                                                                    bool to_head, Deadline end);
    /// Whether another request may follow on it.
    [[nodiscard]] bool reusable() const noexcept { return reusable_; }
    /// Whether the other side has neither closed it nor sent something unasked.
    [[nodiscard]] bool is_quiet();
    /// Whether anything of an answer came.
    [[nodiscard]] bool answered() const noexcept { return answered_; }

private:
    using Socket = boost::asio::ip::tcp::socket;

    [[nodiscard]] boost::asio::awaitable<Result<boost::asio::ip::tcp::resolver::results_type>> resolve(const Url& url,
                                                                                                       Deadline end);
    [[nodiscard]] boost::asio::awaitable<Status> connect(const Url& url, Deadline end);
    [[nodiscard]] boost::asio::awaitable<Status> shake_hands(const Url& url, boost::asio::ssl::context& tls,
                                                             Deadline end);
    [[nodiscard]] boost::asio::awaitable<Result<Response>> read_answer(bool to_head);
    [[nodiscard]] boost::asio::awaitable<Result<std::size_t>> read_some(std::string& buffer);

    /// From now on `limit`, or what remains until `end` if that is less. Closes the socket then.
    void arm(Timeout kind, Duration limit, Deadline end);
    void disarm() noexcept;
    /// The error of a failed step, by how much of the request had been sent.
    [[nodiscard]] Error failure(const boost::system::error_code& error, std::string_view timeout_code) const;

    boost::asio::io_context& context_;
    Clock& clock_;
    const ClientOptions& options_;
    Socket socket_;
    std::optional<boost::asio::ssl::stream<Socket&>> tls_;
    boost::asio::steady_timer timer_;
    Timeout armed_ = Timeout::none;
    std::size_t arms_ = 0;
    bool expired_ = false;
    bool sent_ = false;
    bool answered_ = false;
    bool reusable_ = false;
};

}  // namespace semel::http
