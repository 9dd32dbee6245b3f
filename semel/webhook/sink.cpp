#include "semel/webhook/sink.hpp"

#include "semel/base/assert.hpp"
#include "semel/sink/lanes.hpp"
#include "semel/webhook/address.hpp"
#include "semel/webhook/exchange.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace semel::webhook {
namespace {

/// How long one wait for sockets may be; curl wakes up by itself for its own timers.
constexpr int wait_milliseconds = 100;
/// More would be a mistake in the configuration rather than a fast receiver.
constexpr std::size_t parallel_max = 1024;

struct FreeUrl {
    void operator()(CURLU* url) const noexcept { ::curl_url_cleanup(url); }
};
struct FreeMulti {
    void operator()(CURLM* multi) const noexcept { ::curl_multi_cleanup(multi); }
};

/// One part of a URL; empty if it has none.
std::string part(CURLU* url, CURLUPart which) {
    char* text = nullptr;
    if (::curl_url_get(url, which, &text, 0) != CURLUE_OK) return {};
    std::string copy(text);
    ::curl_free(text);
    return copy;
}

/// Why a host that is written as an address must not be talked to; empty for a name, which is looked at when it is known.
std::string_view why_not(std::string host) {
    std::array<std::byte, 16> bytes{};
    if (::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) return why_not_public(BytesView(bytes).first(4));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) return why_not_public(bytes);
    return {};
}

tl::unexpected<Error> refuse(std::string message, std::string hint = {}) {
    Error error;
    error.fault = Fault::rejected;
    error.message = std::move(message);
    error.cause.hint = std::move(hint);
    return fail(std::move(error));
}

Error no_time_left() {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "not sent: the time for this batch is over";
    return error;
}

Error not_begun(Error why) {
    why.message = "not sent, since another event was answered thus: " + why.message;
    return why;
}

/// Keeps a receiver that hangs up in the middle of a TLS record from ending the whole process: OpenSSL writes without
/// MSG_NOSIGNAL. The signal goes to the thread that writes, so holding it back here touches nobody else.
class HoldSigpipe {
public:
    HoldSigpipe() noexcept {
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        sigset_t pending{};
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~HoldSigpipe() {
        const timespec at_once{};
        if (!was_pending_)
            while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {}
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    HoldSigpipe(const HoldSigpipe&) = delete;
    HoldSigpipe& operator=(const HoldSigpipe&) = delete;

private:
    sigset_t pipe_{};
    sigset_t before_{};
    bool was_pending_ = false;
};

void start_curl() {
    // Once in a process, before anything else of curl.
    static const CURLcode started = ::curl_global_init(CURL_GLOBAL_DEFAULT);
    SEMEL_ASSERT(started == CURLE_OK);
}

}  // namespace

Status check_url(const std::string& url, bool allow_private) {
    start_curl();
    const std::unique_ptr<CURLU, FreeUrl> parsed(::curl_url());
    SEMEL_ASSERT(parsed);
    if (::curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return refuse("the address of the receiver is no URL", "write it as https://host/path");
    const std::string scheme = part(parsed.get(), CURLUPART_SCHEME);
    if (scheme != "https" && scheme != "http") return refuse("a webhook goes to https://…, not to " + scheme + "://");
    if (scheme == "http" && !allow_private)
        return refuse("a webhook over plain http can be read and changed on its way",
                      "use https://, or allow private addresses where the receiver is on your own network");
    if (!part(parsed.get(), CURLUPART_USER).empty() || !part(parsed.get(), CURLUPART_PASSWORD).empty())
        return refuse("a user or a password in the receiver's URL would end up in logs", "sign with a secret instead");
    const std::string host = part(parsed.get(), CURLUPART_HOST);
    if (host.empty()) return refuse("the receiver's URL names no host");
    if (const std::string_view why = allow_private ? std::string_view() : why_not(host); !why.empty())
        return refuse("the receiver's address is " + std::string(why), "private addresses must be allowed explicitly");
    return {};
}

struct WebhookSink::State {
    State(SinkOptions given, Clock& with) : options(std::move(given)), clock(&with), multi(::curl_multi_init()) {
        SEMEL_ASSERT(multi);
        const auto most = static_cast<long>(options.parallel);
        ::curl_multi_setopt(multi.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, most);
        ::curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, most);
        for (std::size_t i = 0; i < options.parallel; ++i) idle.push_back(std::make_unique<Exchange>(options));
    }
    ~State() {
        for (const auto& one : busy) ::curl_multi_remove_handle(multi.get(), one->handle());
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    void begin_some(Lanes& lanes, std::span<const Message> messages, Instant last_start, Deadline deadline);
    void collect(Lanes& lanes);

    SinkOptions options;
    Clock* clock;
    std::unique_ptr<CURLM, FreeMulti> multi;
    std::vector<std::unique_ptr<Exchange>> idle;
    std::vector<std::unique_ptr<Exchange>> busy;
};

void WebhookSink::State::begin_some(Lanes& lanes, std::span<const Message> messages, Instant last_start,
                                    Deadline deadline) {
    if (clock->now() >= last_start) lanes.close(no_time_left());
    while (!idle.empty()) {
        const auto number = lanes.next();
        if (!number) return;
        const Duration limit = std::min(options.request_limit, deadline.remaining(clock->now()));
        if (const Status ready = idle.back()->prepare(messages[*number], *number, clock->wall(), limit); !ready) {
            lanes.answered(*number, ready);
            continue;
        }
        const CURLMcode added = ::curl_multi_add_handle(multi.get(), idle.back()->handle());
        SEMEL_ASSERT(added == CURLM_OK);
        busy.push_back(std::move(idle.back()));
        idle.pop_back();
    }
}

void WebhookSink::State::collect(Lanes& lanes) {
    int left = 0;
    while (const CURLMsg* said = ::curl_multi_info_read(multi.get(), &left)) {
        if (said->msg != CURLMSG_DONE) continue;
        // Removing the handle takes the message away with it.
        const CURLcode code = said->data.result;
        CURL* handle = said->easy_handle;
        ::curl_multi_remove_handle(multi.get(), handle);
        const auto found = std::ranges::find(busy, handle, [](const auto& one) { return one->handle(); });
        SEMEL_ASSERT(found != busy.end());
        const Status answer = (*found)->finish(code, clock->wall());
        // Whoever asks for less, or is not there, is not asked sixteen times more.
        if (!answer && (answer.error().fault == Fault::throttled || (*found)->reached_nobody()))
            lanes.close(not_begun(answer.error()));
        lanes.answered((*found)->number(), answer);
        idle.push_back(std::move(*found));
        busy.erase(found);
    }
}

WebhookSink::WebhookSink(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
WebhookSink::~WebhookSink() {
    // Connections are closed with a word of goodbye, which nobody may be there to hear.
    const HoldSigpipe hold;
    state_.reset();
}

Result<std::unique_ptr<WebhookSink>> WebhookSink::create(SinkOptions options, Clock& clock) {
    SEMEL_TRY(check_url(options.url, options.allow_private));
    if (options.parallel == 0 || options.parallel > parallel_max)
        return refuse("a webhook sink sends 1 to " + std::to_string(parallel_max) + " requests at once");
    if (options.connect_limit <= Duration::zero() || options.request_limit <= Duration::zero())
        return refuse("the time limits of a webhook sink are longer than nothing");
    if (options.event.source.empty()) return refuse("a CloudEvent says who tells it: the source must not be empty");
    return std::unique_ptr<WebhookSink>(new WebhookSink(std::make_unique<State>(std::move(options), clock)));
}

std::vector<Status> WebhookSink::publish(std::span<const Message> messages, Deadline deadline) {
    const HoldSigpipe hold;
    State& state = *state_;
    Lanes lanes(messages);
    const Instant begun = state.clock->now();
    const Duration given = deadline.remaining(begun);
    // So that the requests under way at the end are not cut off, to be sent a second time.
    const Instant last_start =
        deadline.is_never() ? Instant::max() : begun + std::max(given - state.options.request_limit, given / 2);
    while (true) {
        state.begin_some(lanes, messages, last_start, deadline);
        if (lanes.finished()) break;
        int running = 0;
        const CURLMcode performed = ::curl_multi_perform(state.multi.get(), &running);
        SEMEL_ASSERT(performed == CURLM_OK);
        if (static_cast<std::size_t>(running) == state.busy.size())
            ::curl_multi_poll(state.multi.get(), nullptr, 0, wait_milliseconds, nullptr);
        state.collect(lanes);
    }
    return std::move(lanes).take();
}

}  // namespace semel::webhook
