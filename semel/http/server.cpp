#include "semel/http/server.hpp"

#include "semel/http/core.hpp"
#include "semel/http/loop.hpp"
#include "semel/http/workers.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace semel::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

tl::unexpected<Error> wrong(std::string what, std::string native = {}) {
    Error error;
    error.fault = Fault::rejected;
    error.message = "http server: " + std::move(what);
    error.native = std::move(native);
    return fail(std::move(error));
}

/// "127.0.0.1:8080", "[::1]:0", "localhost:80".
Result<tcp::endpoint> parse_listen(std::string_view text) {
    const auto colon = text.rfind(':');
    std::uint16_t port = 0;
    const std::string_view digits = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    std::string host(text.substr(0, colon));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    boost::system::error_code error;
    const auto address = asio::ip::make_address(host, error);
    if (digits.empty() || read.ec != std::errc() || read.ptr != digits.data() + digits.size() || error) {
        return wrong("listen: \"" + std::string(text) + "\" is not ADDRESS:PORT, as in 127.0.0.1:8080 or [::1]:0");
    }
    return tcp::endpoint(address, port);
}

Status check(const ServerOptions& options, const tcp::endpoint& endpoint) {
    if (options.tokens.empty() && !endpoint.address().is_loopback()) {
        return wrong(
            "listen: without bearer tokens anyone could act as anyone, so only a loopback address may be "
            "bound; configure tokens, or listen on 127.0.0.1");
    }
    if (options.tls_certificate_file.empty() != options.tls_key_file.empty()) {
        return wrong("TLS needs both the certificate file and the key file");
    }
    if (options.io_threads == 0 || options.workers == 0) return wrong("io_threads and workers must be at least 1");
    if (options.connections_max < options.io_threads) return wrong("connections_max must be at least io_threads");
    if (options.requests_per_connection_max == 0) return wrong("requests_per_connection_max must be at least 1");
    if (options.request_line_max < 64 || options.head_max < options.request_line_max) {
        return wrong("request_line_max must be at least 64 and not above head_max");
    }
    for (const Duration limit :
         {options.first_byte_limit, options.head_limit, options.body_limit, options.idle_limit, options.write_limit,
          options.request_deadline, options.request_deadline_max, options.tick}) {
        if (limit <= Duration::zero()) return wrong("every time limit must be above zero");
    }
    return {};
}

Result<std::optional<asio::ssl::context>> make_tls(const ServerOptions& options) {
    std::optional<asio::ssl::context> tls;
    if (options.tls_certificate_file.empty()) return tls;
    tls.emplace(asio::ssl::context::tls_server);
    tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                     asio::ssl::context::no_tlsv1_1 | asio::ssl::context::single_dh_use);
    boost::system::error_code error;
    error = tls->use_certificate_chain_file(options.tls_certificate_file, error);
    if (error) return wrong("the certificate file cannot be used: " + options.tls_certificate_file, error.message());
    error = tls->use_private_key_file(options.tls_key_file, asio::ssl::context::pem, error);
    if (error) return wrong("the key file cannot be used: " + options.tls_key_file, error.message());
    return tls;
}

}  // namespace

struct Server::State {
    State(ServerOptions options, Router router, Clock& clock, std::optional<asio::ssl::context> tls_given)
        : core(std::move(options), std::move(router), clock), tls(std::move(tls_given)) {
        workers = std::make_unique<Workers>(core);
        const std::size_t count = core.options.io_threads;
        for (std::size_t i = 0; i < count; ++i) {
            loops.push_back(std::make_unique<Loop>(core, *workers, tls ? &*tls : nullptr,
                                                   core.options.connections_max / count, [this] { on_closed(); }));
        }
    }

    ~State() {
        for (const auto& loop : loops) loop->context().stop();
        threads.clear();
        // Handlers that still run report to loops that are there, if no longer turning.
        workers.reset();
        acceptor.reset();
    }

    Status listen(const tcp::endpoint& endpoint) {
        boost::system::error_code error;
        acceptor.emplace(loops.front()->context());
        error = acceptor->open(endpoint.protocol(), error);
        if (!error) error = acceptor->set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) error = acceptor->bind(endpoint, error);
        if (!error) error = acceptor->listen(asio::socket_base::max_listen_connections, error);
        if (error) return wrong("cannot listen on " + core.options.listen + ": " + error.message());
        port = acceptor->local_endpoint(error).port();
        return {};
    }

    void run() {
        asio::co_spawn(loops.front()->context(), accept(), asio::detached);
        for (const auto& loop : loops) {
            loop->start();
            threads.emplace_back([&context = loop->context()] { context.run(); });
        }
    }

    asio::awaitable<void> accept() {
        asio::steady_timer pause(loops.front()->context());
        for (std::size_t turn = 0;; ++turn) {
            Loop& loop = *loops[turn % loops.size()];
            auto [error, socket] = co_await acceptor->async_accept(loop.context(), asio::as_tuple(asio::use_awaitable));
            if (!error) {
                hand_over(loop, std::move(socket));
            } else if (!acceptor->is_open()) {
                co_return;
            } else {
                // No descriptor left, say: asking again at once would only burn the processor.
                pause.expires_after(core.options.tick);
                co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
            }
        }
    }

    void hand_over(Loop& loop, tcp::socket socket) {
        if (&loop == loops.front().get()) return loop.adopt(std::move(socket));
        asio::post(loop.context(), [&loop, moved = std::move(socket)]() mutable { loop.adopt(std::move(moved)); });
    }

    /// Takes those who were let in by the system already, then lets nobody in.
    void stop_accepting() {
        if (!acceptor->is_open()) return;
        boost::system::error_code error;
        error = acceptor->non_blocking(true, error);
        while (!error) {
            tcp::socket socket(loops.front()->context());
            error = acceptor->accept(socket, error);
            if (!error) loops.front()->adopt(std::move(socket));
        }
        error = acceptor->close(error);
    }

    void on_closed() {
        // In order with the drain: it sees the count at zero, or we see it waiting.
        if (!core.draining.load()) return;
        const std::lock_guard guard(mutex);
        closed.notify_all();
    }

    bool wait_until_empty(Deadline deadline) {
        std::unique_lock lock(mutex);
        while (core.counters.connections.load() > 0) {
            if (core.clock.wait(lock, closed, deadline.at(), {}) == Wake::timeout) return false;
        }
        return true;
    }

    Core core;
    std::optional<asio::ssl::context> tls;
    std::unique_ptr<Workers> workers;
    std::mutex mutex;
    std::condition_variable_any closed;
    std::vector<std::unique_ptr<Loop>> loops;
    std::optional<tcp::acceptor> acceptor;
    std::vector<std::jthread> threads;
    std::uint16_t port = 0;
};

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Router router, Clock& clock) {
    const tcp::endpoint endpoint = SEMEL_TRY(parse_listen(options.listen));
    SEMEL_TRY(check(options, endpoint));
    auto tls = SEMEL_TRY(make_tls(options));
    auto state = std::make_unique<State>(std::move(options), std::move(router), clock, std::move(tls));
    SEMEL_TRY(state->listen(endpoint));
    state->run();
    return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Server::~Server() = default;

std::uint16_t Server::port() const noexcept { return state_->port; }

bool Server::drain(Deadline deadline) {
    State& state = *state_;
    if (!state.core.draining.exchange(true)) {
        std::atomic<bool> stopped{false};
        asio::post(state.loops.front()->context(), [&] {
            state.stop_accepting();
            stopped.store(true);
            stopped.notify_one();
        });
        stopped.wait(false);
    }
    if (state.wait_until_empty(deadline)) return true;
    for (const auto& loop : state.loops) {
        asio::post(loop->context(), [&loop = *loop] { loop.close_all(); });
    }
    return false;
}

bool Server::draining() const noexcept { return state_->core.draining.load(std::memory_order_relaxed); }

ServerStats Server::stats() const {
    const Core& core = state_->core;
    const Counters& from = core.counters;
    const auto read = [](const Counters::Count& count) { return count.load(std::memory_order_relaxed); };
    return {.connections = read(from.connections),
            .in_flight = core.busy.load(std::memory_order_relaxed),
            .queued = core.queued.load(std::memory_order_relaxed),
            .accepted = read(from.accepted),
            .evicted = read(from.evicted),
            .refused = read(from.refused),
            .requests = read(from.requests),
            .malformed = read(from.malformed),
            .shed = read(from.shed),
            .handler_failures = read(from.handler_failures),
            .timeouts = {.first_byte = read(from.first_byte),
                         .head = read(from.head),
                         .body = read(from.body),
                         .idle = read(from.idle),
                         .write = read(from.write),
                         .queue = read(from.queue),
                         .executor = read(from.executor)}};
}

}  // namespace semel::http
