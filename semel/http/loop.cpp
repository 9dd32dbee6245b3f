#include "semel/http/loop.hpp"

#include "semel/base/id.hpp"
#include "semel/http/connection.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/write_head.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

namespace semel::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// While draining, how long a connection that has sent nothing yet may still begin: its request may
/// be on the way.
constexpr Duration draining_grace = std::chrono::milliseconds(250);

/// How much of an answer the system takes from us ahead of what the other side reads: slow readers
/// must cost little memory.
constexpr int unsent_max = 128 * 1024;

void limit_unsent(tcp::socket& socket) noexcept {
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_max, sizeof unsent_max);
}

}  // namespace

Loop::Loop(Core& core, Workers& workers, asio::ssl::context* tls, std::size_t connections_max,
           std::function<void()> closed)
    : core_(core),
      workers_(workers),
      tls_(tls),
      connections_max_(connections_max),
      closed_(std::move(closed)),
      date_(core.clock) {}

void Loop::adopt(tcp::socket socket) {
    Counters::up(core_.counters.accepted);
    boost::system::error_code error;
    const auto peer = socket.remote_endpoint(error);
    if (error) return;  // Gone before it was here.
    if (table_.size() >= connections_max_) {
        Link* victim = table_.victim(core_.clock.now());
        if (victim == nullptr) return refuse(std::move(socket));
        Counters::up(core_.counters.evicted);
        static_cast<Connection*>(victim)->shut();
    }
    error = socket.set_option(tcp::no_delay(true), error);
    error = socket.non_blocking(true, error);
    limit_unsent(socket);
    std::string address = peer.address().to_string();
    if (tls_ != nullptr) {
        serve_tls(*this, std::move(socket), *tls_, std::move(address));
    } else {
        serve_plain(*this, std::move(socket), std::move(address));
    }
}

void Loop::refuse(tcp::socket socket) {
    Counters::up(core_.counters.refused);
    if (tls_ != nullptr) return;
    const std::string id = new_uuid().text();
    const Response response = Problem(problems::overloaded, "Nothing was done. Too many connections; try again later.")
                                  .with_retry_after(std::chrono::seconds(1))
                                  .to_response(id);
    std::string text;
    write_response_head(text, response, {.keep_alive = false, .date = date_.text(), .correlation = id});
    text += response.body;
    boost::system::error_code error;
    error = socket.non_blocking(true, error);
    static_cast<void>(socket.write_some(asio::buffer(text), error));
}

void Loop::start() { asio::co_spawn(context_, tick(*this), asio::detached); }

asio::awaitable<void> Loop::tick(Loop& loop) {
    asio::steady_timer timer(loop.context_);
    for (;;) {
        timer.expires_after(loop.core_.options.tick);
        co_await timer.async_wait(asio::use_awaitable);
        loop.sweep();
    }
}

void Loop::sweep() {
    const Instant now = core_.clock.now();
    const bool draining = core_.draining.load(std::memory_order_relaxed);
    table_.for_each([&](Link& link) {
        auto& connection = static_cast<Connection&>(link);
        if (now >= link.limit) {
            connection.expire();
        } else if (draining && connection.is_unused() &&
                   (connection.requests() > 0 || now - link.since >= draining_grace)) {
            connection.shut();
        }
    });
}

void Loop::close_all() {
    table_.for_each([](Link& link) { static_cast<Connection&>(link).shut(); });
}

}  // namespace semel::http
