#include "semel/http/connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <type_traits>
#include <utility>

namespace semel::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto token = asio::as_tuple(asio::use_awaitable);

/// Runs a Conversation over a stream: does what it wants, one thing after the other. Kept alive by
/// its own coroutine.
template <class Stream>
class StreamConnection final : public Connection, public std::enable_shared_from_this<StreamConnection<Stream>> {
    static constexpr bool is_tls = !std::is_same_v<Stream, tcp::socket>;

public:
    StreamConnection(Loop& loop, Stream stream, std::string peer)
        : Connection(loop, std::move(peer)), stream_(std::move(stream)) {}

    void start() {
        const auto self = this->shared_from_this();
        if constexpr (is_tls) {
            enlist(stream_.next_layer(), self);
        } else {
            enlist(stream_, self);
        }
        asio::co_spawn(loop_.context(), run(self), asio::detached);
    }

private:
    asio::awaitable<void> run([[maybe_unused]] std::shared_ptr<StreamConnection> self) {
        if constexpr (is_tls) shut_ = !co_await shake_hands();
        while (!shut_) {
            const Conversation::Want want = talk_.next();
            if (want == Conversation::Want::read) {
                await(talk_.waiting());
                const auto room = talk_.room();
                const auto [error, count] =
                    co_await stream_.async_read_some(asio::buffer(room.data(), room.size()), token);
                on_read(error, count);
            } else if (want == Conversation::Want::write) {
                if (!write_now()) co_await write();
            } else if (want == Conversation::Want::work) {
                co_await work();
            } else {
                co_await part();
                break;
            }
        }
        close();
        forget();
    }

    asio::awaitable<bool> shake_hands() {
        const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, token);
        if (error && expired_) talk_.expired(Waiting::first_byte);
        co_return !error;
    }

    void on_read(const boost::system::error_code& error, std::size_t count) {
        // What arrived in the last moment counts.
        if (!error) {
            talk_.received(count);
        } else if (expired_) {
            expired_ = false;
            talk_.expired(waiting);
        } else {
            talk_.ended();
        }
    }

    [[nodiscard]] std::array<asio::const_buffer, 2> output() const noexcept {
        const auto [head, body] = talk_.output();
        return {asio::buffer(head.data(), head.size()), asio::buffer(body.data(), body.size())};
    }

    /// Most answers fit into the socket's buffer: sent without a turn of the loop.
    [[nodiscard]] bool write_now() {
        if constexpr (is_tls) {
            return false;
        } else {
            boost::system::error_code error;
            const auto buffers = output();
            sent_ = stream_.write_some(buffers, error);
            if (error) sent_ = 0;
            if (sent_ < asio::buffer_size(buffers)) return false;
            sent_ = 0;
            talk_.written();
            renewed_ = true;
            return true;
        }
    }

    /// What `write_now` could not.
    asio::awaitable<void> write() {
        await(Waiting::write);
        auto [head, body] = output();
        body += sent_ > head.size() ? sent_ - head.size() : 0;
        head += sent_;
        sent_ = 0;
        const std::array<asio::const_buffer, 2> rest = {head, body};
        const auto [error, count] = co_await asio::async_write(stream_, rest, token);
        if (!error) {
            talk_.written();
            renewed_ = true;
        } else {
            if (expired_) talk_.expired(Waiting::write);
            shut_ = true;
        }
    }

    asio::awaitable<void> work() {
        served_ = false;
        await(Waiting::executor);
        loop_.workers().submit(talk_.exchange());
        for (bool begun = false; !shut_;) {
            co_await gate_.async_wait(token);
            if (served_) co_return talk_.served();
            if (!std::exchange(expired_, false)) continue;
            if (begun) co_return talk_.overdue();
            if (talk_.drop()) co_return;
            begun = true;
            limit = talk_.overdue_at();
        }
    }

    /// Closes so that the other side gets our last answer: reads what it still sends for a while,
    /// since closing a socket with unread bytes resets the connection.
    asio::awaitable<void> part() {
        await(Waiting::farewell);
        if constexpr (is_tls) {
            co_await stream_.async_shutdown(token);
        } else if (talk_.rude()) {
            boost::system::error_code ignored;
            ignored = stream_.shutdown(tcp::socket::shutdown_send, ignored);
            std::array<char, 4096> dropped;  // NOLINT(cppcoreguidelines-init-variables): nobody reads it.
            for (std::size_t total = 0; total < farewell_bytes_max;) {
                const auto [error, count] = co_await stream_.async_read_some(asio::buffer(dropped), token);
                if (error) break;
                total += count;
            }
        }
    }

    Stream stream_;
    std::size_t sent_ = 0;
};

}  // namespace

Connection::Connection(Loop& loop, std::string peer)
    : loop_(loop),
      gate_(loop.context(), asio::steady_timer::time_point::max()),
      self_(std::make_shared<std::weak_ptr<Connection>>()),
      talk_(loop.core(), loop.date(), std::move(peer), [context = &loop.context(), self = self_] {
          // The loop's thread alone looks into it.
          asio::post(*context, [self] {
              if (const auto alive = self->lock()) alive->wake();
          });
      }) {}

Connection::~Connection() { forget(); }

void Connection::enlist(tcp::socket& socket, std::weak_ptr<Connection> self) {
    socket_ = &socket;
    *self_ = std::move(self);
    const Instant now = loop_.core().clock.now();
    loop_.table().add(*this, Waiting::first_byte, now, now + limit_of(Waiting::first_byte));
    loop_.core().counters.connections.fetch_add(1);
    counted_ = true;
}

void Connection::expire() {
    expired_ = true;
    limit = Instant::max();
    boost::system::error_code ignored;
    ignored = socket_->cancel(ignored);
    gate_.cancel();
}

void Connection::shut() {
    shut_ = true;
    close();
    gate_.cancel();
    // At once, so that the table counts what is really open.
    forget();
}

void Connection::close() noexcept {
    boost::system::error_code ignored;
    ignored = socket_->close(ignored);
}

void Connection::wake() noexcept {
    served_ = true;
    gate_.cancel();
}

bool Connection::is_unused() const {
    boost::system::error_code ignored;
    return talk_.is_idle() && socket_->available(ignored) == 0;
}

Duration Connection::limit_of(Waiting what) const noexcept {
    const ServerOptions& options = loop_.core().options;
    switch (what) {
        case Waiting::first_byte: return options.first_byte_limit;
        case Waiting::head: return options.head_limit;
        case Waiting::body: return options.body_limit;
        case Waiting::idle: return options.idle_limit;
        case Waiting::write: return options.write_limit;
        default: return farewell_limit;
    }
}

void Connection::await(Waiting what) {
    if (what == waiting && !renewed_) return;
    renewed_ = false;
    expired_ = false;
    const Instant now = loop_.core().clock.now();
    const Instant until = what == Waiting::executor ? talk_.drop_at() : now + limit_of(what);
    loop_.table().move(*this, what, now, until);
}

void Connection::forget() noexcept {
    loop_.table().remove(*this);
    if (!std::exchange(counted_, false)) return;
    loop_.core().counters.connections.fetch_sub(1);
    loop_.on_closed();
}

void serve_plain(Loop& loop, tcp::socket socket, std::string peer) {
    std::make_shared<StreamConnection<tcp::socket>>(loop, std::move(socket), std::move(peer))->start();
}

void serve_tls(Loop& loop, tcp::socket socket, asio::ssl::context& tls, std::string peer) {
    using Stream = asio::ssl::stream<tcp::socket>;
    std::make_shared<StreamConnection<Stream>>(loop, Stream(std::move(socket), tls), std::move(peer))->start();
}

}  // namespace semel::http
