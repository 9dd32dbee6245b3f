#include "semel/http/client_state.hpp"

#include "semel/base/id.hpp"
#include "semel/http/answer.hpp"
#include "semel/http/context_headers.hpp"
#include "semel/http/idempotency_header.hpp"
#include "semel/http/write_head.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace semel::http {
namespace {

namespace asio = boost::asio;

/// RFC 9110, 9.2.2.
bool is_idempotent(std::string_view method) noexcept {
    constexpr std::array<std::string_view, 6> methods = {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"};
    return std::ranges::find(methods, method) != methods.end();
}

}  // namespace

Result<Outgoing> prepare(const ClientOptions& options, const ClientRequest& request, Deadline deadline, Instant now) {
    Outgoing outgoing;
    outgoing.url = SEMEL_TRY(parse_url(request.url));
    if (!is_field_name(request.method)) return fail(Fault::rejected, "the method is not a token");
    for (const Headers::Field& field : request.headers) {
        if (!is_field_name(field.name) || !is_field_value(field.value)) {
            return fail(Fault::rejected, "the header field " + field.name + " cannot be sent");
        }
    }
    // Two keys, or one that no server accepts, would not be a key.
    const auto key = SEMEL_TRY(idempotency_key(request.headers));
    outgoing.repeat = key || is_idempotent(request.method) ? Repeat::safe : Repeat::unsafe;
    outgoing.method = request.method;
    outgoing.name = request.method + " " + outgoing.url.text_without_query();
    outgoing.headers.add("Host", outgoing.url.authority);
    for (const Headers::Field& field : request.headers) {
        constexpr std::array<std::string_view, 4> own = {"Host", "Content-Length", "Connection", "Transfer-Encoding"};
        const bool is_own =
            std::ranges::any_of(own, [&](std::string_view name) { return same_name(name, field.name); });
        if (!is_own) outgoing.headers.add(field.name, field.value);
    }
    if (!request.body.empty() || !is_idempotent(request.method)) {
        outgoing.headers.add("Content-Length", std::to_string(request.body.size()));
    }
    if (!request.correlation_id.empty()) outgoing.headers.set(correlation_header, request.correlation_id);
    if (!outgoing.headers.find(correlation_header)) {
        outgoing.headers.add(std::string(correlation_header), new_uuid().text());
    }
    outgoing.body = request.body;
    outgoing.context = request.context;
    outgoing.deadline = deadline.sooner(request.context.deadline).within(now, options.timeouts.total);
    return outgoing;
}

Client::State::State(ClientOptions options_given, Clock& clock_given, Random& random_given)
    : options(std::move(options_given)), clock(clock_given), random(random_given), thread_([this] { context.run(); }) {}

Client::State::~State() {
    work_.reset();
    context.stop();
}

asio::awaitable<Result<Response>> Client::State::attempt(const Outgoing& outgoing, std::uint32_t number, bool& lost) {
    co_await asio::this_coro::throw_if_cancelled(false);
    attempts.fetch_add(1, std::memory_order_relaxed);
    const Instant now = clock.now();
    const Deadline end = outgoing.deadline.within(now, options.timeouts.request);
    Headers headers = outgoing.headers;
    const bool ours = outgoing.context.owner_for(options.name) == RetryOwner::here;
    write_context(headers,
                  {.attempt = ours ? number : outgoing.context.attempt,
                   .owner = ours ? options.name : outgoing.context.owner,
                   .deadline = end},
                  now);
    std::string head;
    write_request_head(head, outgoing.method, outgoing.url.target, headers);
    const std::string origin = (outgoing.url.tls ? "https " : "http ") + outgoing.url.authority;
    const bool to_head = outgoing.method == "HEAD";

    // The other side may be closing a kept connection while we write to it; who may not repeat takes none.
    auto wire = outgoing.repeat == Repeat::safe ? take(origin) : nullptr;
    for (bool fresh = wire == nullptr;; fresh = true) {
        if (fresh) {
            connections.fetch_add(1, std::memory_order_relaxed);
            wire = std::make_shared<Wire>(context, clock, options);
            Status opened = co_await wire->open(outgoing.url, tls, end);
            if (!opened) co_return fail(overall(std::move(opened).error(), outgoing.deadline, clock.now()));
        }
        auto response = co_await wire->exchange(head, outgoing.body, to_head, end);
        if (response) {
            if (wire->reusable()) keep(origin, std::move(wire));
            co_return judge(*std::move(response), clock.wall());
        }
        const bool was_closing = !fresh && !wire->answered() && response.error().cause.timeout == Timeout::none;
        if (!was_closing) co_return fail(overall(std::move(response).error(), outgoing.deadline, clock.now()));
        lost = lost || response.error().fault == Fault::unknown;
    }
}

std::shared_ptr<Wire> Client::State::take(const std::string& origin) {
    const Instant now = clock.now();
    std::erase_if(kept_, [now](const Kept& one) { return now >= one.until || !one.wire->is_quiet(); });
    const auto found = std::ranges::find(kept_.rbegin(), kept_.rend(), origin, &Kept::origin);
    std::shared_ptr<Wire> wire;
    if (found != kept_.rend()) {
        wire = std::move(found->wire);
        kept_.erase(std::next(found).base());
    }
    idle.store(kept_.size(), std::memory_order_relaxed);
    return wire;
}

void Client::State::keep(const std::string& origin, std::shared_ptr<Wire> wire) {
    if (options.idle_max == 0) return;
    if (kept_.size() >= options.idle_max) kept_.erase(kept_.begin());
    kept_.push_back({origin, std::move(wire), clock.now() + options.idle_limit});
    idle.store(kept_.size(), std::memory_order_relaxed);
}

}  // namespace semel::http
