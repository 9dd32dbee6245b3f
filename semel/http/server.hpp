#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/authenticate.hpp"
#include "semel/http/router.hpp"
#include "semel/retry/deadline.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace semel::http {

/// How much a server takes on, and how long it waits for whom. Every wait and every size has its
/// limit; each time limit has a name of its own in `ServerStats::timeouts`.
struct ServerOptions {
    /// "127.0.0.1:8080", "[::1]:0"; port 0 lets the system choose. Without tokens only loopback.
    std::string listen = "127.0.0.1:0";
    std::string tls_certificate_file{};  ///< PEM chain; with `tls_key_file` it serves HTTPS alone.
    std::string tls_key_file{};
    TokenTable tokens{};

    std::size_t io_threads = 1;
    std::size_t workers = 8;
    /// Requests that wait for a worker. More would only wait longer than their callers do.
    std::size_t queue_max = 256;
    /// Connections at once, over all event loops. At the limit a newcomer takes the place of the one that
    /// has waited longest without completing a request head, else of the slowest body, else of the slowest
    /// reader; a connection whose request is being handled is never closed for another.
    std::size_t connections_max = 4096;
    std::size_t requests_per_connection_max = 100'000;

    std::size_t request_line_max = 8 * 1024;  ///< 414 beyond it.
    std::size_t head_max = 32 * 1024;         ///< Request line and fields together; 431 beyond it.
    std::size_t fields_max = 100;             ///< 431 beyond it.
    std::size_t body_max = 1024 * 1024;       ///< 413 beyond it, unless the route says otherwise.

    Duration first_byte_limit = std::chrono::seconds(10);  ///< From the connection to its first byte, TLS included.
    Duration head_limit = std::chrono::seconds(10);        ///< From the first byte of a request to the end of its head.
    Duration body_limit = std::chrono::seconds(30);        ///< From the end of the head to the end of the body.
    Duration idle_limit = std::chrono::seconds(60);        ///< Between two requests.
    Duration write_limit = std::chrono::seconds(30);       ///< For one answer to be taken.

    Duration request_deadline = std::chrono::seconds(30);     ///< Where neither caller nor route says.
    Duration request_deadline_max = std::chrono::minutes(5);  ///< What a caller can ask for at most.
    /// How long past its deadline a handler may still answer. Then the caller is told that the
    /// outcome is not known, and the worker is left to finish.
    Duration overrun = std::chrono::seconds(1);
    /// How often the time limits are looked at, and so how late a limit may strike.
    Duration tick = std::chrono::milliseconds(50);
};

/// What the server did so far, and what it is doing now.
struct ServerStats {
    struct Timeouts {
        std::uint64_t first_byte = 0;
        std::uint64_t head = 0;
        std::uint64_t body = 0;
        std::uint64_t idle = 0;
        std::uint64_t write = 0;
        std::uint64_t queue = 0;     ///< Requests whose deadline passed before a worker was free.
        std::uint64_t executor = 0;  ///< Handlers that overran their deadline and were given up.
    };

    std::uint64_t connections = 0;  ///< Open now.
    std::uint64_t in_flight = 0;    ///< Requests being handled by workers now.
    std::uint64_t queued = 0;       ///< Requests waiting for a worker now.
    std::uint64_t accepted = 0;
    std::uint64_t evicted = 0;  ///< Connections that gave way to newcomers.
    std::uint64_t refused = 0;  ///< Newcomers for whom nobody could give way.
    std::uint64_t requests = 0;
    std::uint64_t malformed = 0;         ///< Refused before a handler: syntax, framing, limits of size.
    std::uint64_t shed = 0;              ///< Answered OVERLOADED.
    std::uint64_t handler_failures = 0;  ///< Handlers that threw, or answered what cannot be sent.
    Timeouts timeouts{};
};

/// An HTTP/1.1 server: event loops that read and write, bounded workers that handle. Malformed
/// requests are answered with a problem and the connection is closed; requests on one connection
/// are answered in their order. All members may be called from any thread.
class Server {
public:
    /// Listens and serves from here on. An Error (`rejected`) names what is wrong with the options:
    /// an address that cannot be bound, a certificate that cannot be read, no tokens beyond
    /// loopback. The clock must outlive the server, as must whatever the routes refer to.
    [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, Router router, Clock& clock);
    /// Closes what is open; waits for handlers that still run.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    /// Stops accepting, closes idle connections, lets requests that have begun finish with
    /// `Connection: close`, and returns when all are closed; what is still open at the deadline is
    /// closed then, and that is false. Further calls wait likewise.
    bool drain(Deadline deadline);
    [[nodiscard]] bool draining() const noexcept;
    [[nodiscard]] ServerStats stats() const;

private:
    struct State;
    explicit Server(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::http
