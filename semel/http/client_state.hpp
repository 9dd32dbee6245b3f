#pragma once

#include "semel/http/client.hpp"
#include "semel/http/url.hpp"
#include "semel/http/wire.hpp"
#include "semel/retry/repeat.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace semel::http {

/// A request as all its attempts send it.
struct Outgoing {
    std::string name;  ///< For operators: method and address, without the query.
    std::string method;
    Url url;
    Headers headers;
    std::string_view body;  ///< The caller's, which outlives the call.
    RetryContext context;   ///< Of the layers further out.
    Deadline deadline;
    Repeat repeat = Repeat::unsafe;
};

/// An Error (`rejected`) if the request cannot be sent as it is.
[[nodiscard]] Result<Outgoing> prepare(const ClientOptions& options, const ClientRequest& request, Deadline deadline,
                                       Instant now);

/// All attempts run on one loop with a thread of its own: the kept connections need no lock, and a
/// caller may be a plain thread or a coroutine of any loop.
struct Client::State {
    State(ClientOptions options_given, Clock& clock_given, Random& random_given);
    ~State();

    /// `lost` becomes true if a request went out over a kept connection that then closed without an
    /// answer: it is sent again within the same attempt, and may have been executed all the same.
    [[nodiscard]] boost::asio::awaitable<Result<Response>> attempt(const Outgoing& outgoing, std::uint32_t number,
                                                                   bool& lost);

    const ClientOptions options;
    Clock& clock;
    Random& random;
    std::unique_ptr<Budget> budget{};
    std::unique_ptr<Breaker> breaker{};
    boost::asio::ssl::context tls{boost::asio::ssl::context::tls_client};
    std::atomic<std::uint64_t> attempts{0};
    std::atomic<std::uint64_t> connections{0};
    std::atomic<std::uint64_t> idle{0};

    boost::asio::io_context context{1};

private:
    struct Kept {
        std::string origin;
        std::shared_ptr<Wire> wire;
        Instant until;
    };

    [[nodiscard]] std::shared_ptr<Wire> take(const std::string& origin);
    void keep(const std::string& origin, std::shared_ptr<Wire> wire);

    std::vector<Kept> kept_{};  // The most recently used last. The loop's thread alone.
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context.get_executor()};
    std::jthread thread_;
};

}  // namespace semel::http
