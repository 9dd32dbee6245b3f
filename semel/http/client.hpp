#pragma once

#include "semel/base/random.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/message.hpp"
#include "semel/retry/breaker.hpp"
#include "semel/retry/budget.hpp"
#include "semel/retry/deadline.hpp"
#include "semel/retry/owner.hpp"
#include "semel/retry/policy.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace semel::http {

/// How long each step may take; its name stands in the error of the one that ran out.
struct ClientTimeouts {
    Duration dns = std::chrono::seconds(2);
    Duration connect = std::chrono::seconds(2);
    Duration tls = std::chrono::seconds(3);
    Duration write = std::chrono::seconds(10);
    Duration read = std::chrono::seconds(10);     ///< From the last byte sent to the last byte of the answer.
    Duration request = std::chrono::seconds(15);  ///< One attempt as a whole.
    Duration total = std::chrono::seconds(30);    ///< All attempts and the waits between them.
};

struct ClientOptions {
    /// Who owns the retries, for the layers below: letters, digits, `.`, `_`, `-`.
    std::string name = "semel";
    ClientTimeouts timeouts{};
    Policy policy{};
    BudgetSpec budget{};
    BreakerSpec breaker{};
    std::size_t idle_max = 8;                        ///< Idle connections kept in all.
    Duration idle_limit = std::chrono::seconds(15);  ///< Shorter than servers keep theirs.
    std::size_t head_max = 64 * 1024;                ///< Of the answer.
    std::size_t body_max = 16 * 1024 * 1024;         ///< Of the answer.
    std::string ca_file{};                           ///< PEM; empty: the system's certificates.
};

struct ClientRequest {
    std::string method = "GET";
    std::string url;  ///< "http://host[:port]/path?query" or https; encoded already.
    Headers headers{};
    std::string body{};
    /// What this call serves: if a layer further out owns the retries, one attempt is made here, and
    /// its deadline holds here too.
    RetryContext context{};
    std::string correlation_id{};  ///< Empty: a fresh one.
    std::stop_token stop{};        ///< Ends the waits between attempts.
};

/// Calls one dependency over HTTP/1.1: keep one Client for each, since its retry budget and breaker
/// tell that dependency's health. Thread-safe if its Random is.
///
/// An answer is a value, whatever its status says, unless it means that asking again might end
/// differently: 408, 425, 429, most of 5xx, and 409 for a key that is being executed. Those are
/// retried as the policy has it, honouring Retry-After, and returned as an Error only then; its
/// `cause.code` is the status. `unknown` means that the request may have been executed, by the last
/// attempt or by an earlier one: no later failure settles a doubt. A later answer that is a value is
/// returned as it is, for it is the other side's answer to the same key; but an answer that is given
/// before the key is looked at (401, 403, 404, 413) says nothing about an earlier attempt.
///
/// An Error's message names the method alone and may be shown to callers; the address, without its
/// query, stands in `native`.
///
/// An attempt with an unknown outcome is repeated only if the method is idempotent or the request
/// carries an Idempotency-Key. A request that may not be repeated never goes over a used connection,
/// which the other side might be about to close.
class Client {
public:
    /// An Error (`rejected`) names the option that is wrong. Clock and random must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Client>> create(ClientOptions options, Clock& clock, Random& random);
    /// No call may be under way.
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Blocks the calling thread until there is an answer, or none to be had before the deadline. The
    /// coroutine form stands in client_coroutine.hpp.
    [[nodiscard]] Result<Response> send(const ClientRequest& request, Deadline deadline = Deadline::never());

    [[nodiscard]] const Budget& budget() const noexcept;
    [[nodiscard]] const Breaker& breaker() const noexcept;

    struct Stats {
        std::uint64_t attempts = 0;
        std::uint64_t connections = 0;  ///< Opened so far.
        std::uint64_t idle = 0;         ///< Kept now.
    };
    [[nodiscard]] Stats stats() const;

    struct State;
    [[nodiscard]] State& state() noexcept { return *state_; }

private:
    explicit Client(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::http
