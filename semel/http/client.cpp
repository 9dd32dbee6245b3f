#include "semel/http/client.hpp"

#include "semel/base/id.hpp"
#include "semel/http/answer.hpp"
#include "semel/http/client_coroutine.hpp"
#include "semel/http/client_state.hpp"
#include "semel/retry/blocking.hpp"
#include "semel/retry/coroutine.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <utility>

namespace semel::http {
namespace {

namespace asio = boost::asio;

/// What the attempts of this call run under.
RetryScope scope_of(Client::State& state, const Outgoing& outgoing, const ClientRequest& request) {
    return {.budget = state.budget.get(),
            .breaker = state.breaker.get(),
            .deadline = outgoing.deadline,
            .stop = request.stop,
            .repeat = outgoing.repeat,
            .owner = outgoing.context.owner_for(state.options.name)};
}

/// What the caller is told: in doubt if a request was `lost` on the way, and where it was sent.
Result<Response> told(Result<Response> result, const Outgoing& outgoing, bool lost) {
    if (result) return result;
    Error error = std::move(result).error();
    if (lost) error = after_a_doubt(std::move(error));
    // Where our dependencies are is nobody's business but the operators'.
    error.native = error.native.empty() ? outgoing.name : outgoing.name + ": " + error.native;
    return fail(std::move(error).within(outgoing.method));
}

}  // namespace

Result<std::unique_ptr<Client>> Client::create(ClientOptions options, Clock& clock, Random& random) {
    SEMEL_TRY(parse_owner(options.name));
    auto budget = SEMEL_TRY(Budget::create(options.budget));
    auto breaker = SEMEL_TRY(Breaker::create(options.breaker));
    const ClientTimeouts& limits = options.timeouts;
    for (const Duration limit : {limits.dns, limits.connect, limits.tls, limits.write, limits.read, limits.request,
                                 limits.total, options.idle_limit}) {
        if (limit <= Duration::zero()) return fail(Fault::rejected, "http client: every time limit must be above zero");
    }
    auto state = std::make_unique<State>(std::move(options), clock, random);
    state->budget = std::move(budget);
    state->breaker = std::move(breaker);
    boost::system::error_code error;
    if (state->options.ca_file.empty()) {
        error = state->tls.set_default_verify_paths(error);
    } else {
        error = state->tls.load_verify_file(state->options.ca_file, error);
    }
    if (error) {
        Error wrong{.fault = Fault::rejected,
                    .message = "http client: the certificates cannot be read",
                    .native = {},
                    .cause = {}};
        wrong.native = error.message();
        return fail(std::move(wrong));
    }
    return std::unique_ptr<Client>(new Client(std::move(state)));
}

Client::Client(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Client::~Client() = default;

Result<Response> Client::send(const ClientRequest& request, Deadline deadline) {
    State& state = *state_;
    const Outgoing outgoing = SEMEL_TRY(prepare(state.options, request, deadline, state.clock.now()));
    bool lost = false;
    const auto attempt = [&](std::uint32_t number) -> Result<Response> {
        return asio::co_spawn(state.context, state.attempt(outgoing, number, lost), asio::use_future).get();
    };
    auto answer =
        retry_blocking(state.clock, state.random, state.options.policy, scope_of(state, outgoing, request), attempt);
    return told(std::move(answer), outgoing, lost);
}

asio::awaitable<Result<Response>> send_coroutine(Client& client, ClientRequest request, Deadline deadline) {
    Client::State& state = client.state();
    const auto prepared = prepare(state.options, request, deadline, state.clock.now());
    if (!prepared) co_return fail(prepared.error());
    const Outgoing& outgoing = *prepared;
    bool lost = false;
    const auto attempt = [&](std::uint32_t number) {
        return asio::co_spawn(state.context, state.attempt(outgoing, number, lost), asio::use_awaitable);
    };
    auto answer = co_await retry_coroutine(state.clock, state.random, state.options.policy,
                                           scope_of(state, outgoing, request), attempt);
    co_return told(std::move(answer), outgoing, lost);
}

const Budget& Client::budget() const noexcept { return *state_->budget; }
const Breaker& Client::breaker() const noexcept { return *state_->breaker; }

Client::Stats Client::stats() const {
    return {.attempts = state_->attempts.load(std::memory_order_relaxed),
            .connections = state_->connections.load(std::memory_order_relaxed),
            .idle = state_->idle.load(std::memory_order_relaxed)};
}

}  // namespace semel::http
