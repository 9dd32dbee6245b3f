#include "semel/nats/link.hpp"

#include "semel/nats/failure_table.hpp"

#include <nats/nats.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <utility>

namespace semel::nats {
namespace {

using OptionsHandle = std::unique_ptr<natsOptions, decltype(&natsOptions_Destroy)>;

std::int64_t milliseconds(Duration limit) {
    return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(limit).count());
}

/// What the library's threads know of us. It belongs to the subscription and goes when that has handed out its last message,
/// which may be after our end of the connection is gone.
struct Listener {
    std::shared_ptr<Mailbox> mailbox;
    std::uint64_t connection;
    Mailbox::Kind kind;
};

void on_message(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    const auto* listener = static_cast<const Listener*>(closure);
    listener->mailbox->put(listener->connection, listener->kind, NatsMessage(message));
}

void on_complete(void* closure) {
    const std::unique_ptr<Listener> listener(static_cast<Listener*>(closure));
    listener->mailbox->close(listener->connection);
}

Status set_options(natsOptions* options, const ConnectionOptions& given, const ServerAddress& server, Duration limit) {
    const bool bracketed = server.host.find(':') != std::string::npos;
    const std::string url = (given.tls ? "tls://" : "nats://") + (bracketed ? "[" + server.host + "]" : server.host) +
                            ":" + std::to_string(server.port);
    natsStatus status = natsOptions_SetURL(options, url.c_str());
    const auto set = [&](natsStatus outcome) {
        if (status == NATS_OK) status = outcome;
    };
    set(natsOptions_SetName(options, given.name.c_str()));
    set(natsOptions_SetTimeout(options, milliseconds(limit)));
    set(natsOptions_SetWriteDeadline(options, milliseconds(given.write_limit)));
    set(natsOptions_SetAllowReconnect(options, false));
    // One write for each message: the library's own flusher would wait a millisecond for more.
    set(natsOptions_SetSendAsap(options, true));
    if (!given.user.empty()) set(natsOptions_SetUserInfo(options, given.user.c_str(), given.password.c_str()));
    if (!given.token.empty()) set(natsOptions_SetToken(options, given.token.c_str()));
    if (!given.credentials_file.empty())
        set(natsOptions_SetUserCredentialsFromFiles(options, given.credentials_file.c_str(), nullptr));
    if (given.tls) {
        set(natsOptions_SetSecure(options, true));
        set(natsOptions_SetExpectedHostname(options, server.host.c_str()));
        if (!given.ca_file.empty()) set(natsOptions_LoadCATrustedCertificates(options, given.ca_file.c_str()));
    }
    if (status != NATS_OK) return fail(client_error("set up the connection to NATS", status));
    return {};
}

}  // namespace

Result<std::unique_ptr<Link>> Link::open(const ConnectionOptions& options, const std::shared_ptr<Mailbox>& mailbox,
                                         Clock& clock, Deadline deadline) {
    static std::atomic<std::size_t> first = 0;
    Error last;
    last.fault = Fault::unavailable;
    last.message = "no NATS server was reached in time";
    const std::size_t begin = first++;
    for (std::size_t n = 0; n < options.servers.size(); ++n) {
        const Duration left = std::min(options.connect_limit, deadline.remaining(clock.now()));
        if (left <= Duration::zero()) break;
        std::unique_ptr<Link> link(new Link());
        Status ready = link->connect(options, options.servers[(begin + n) % options.servers.size()], left);
        if (ready) ready = link->listen(mailbox);
        if (ready) return link;
        last = ready.error();
    }
    return fail(std::move(last));
}

Status Link::connect(const ConnectionOptions& options, const ServerAddress& server, Duration limit) {
    natsOptions* raw = nullptr;
    if (const natsStatus made = natsOptions_Create(&raw); made != NATS_OK)
        return fail(client_error("connect to NATS", made));
    const OptionsHandle handle(raw, natsOptions_Destroy);
    SEMEL_TRY(set_options(raw, options, server, limit));
    if (const natsStatus connected = natsConnection_Connect(&connection_, raw); connected != NATS_OK)
        return fail(client_error("connect to NATS", connected));
    jsOptions how{};
    jsOptions_Init(&how);
    how.Wait = milliseconds(options.connect_limit);
    if (const natsStatus made = natsConnection_JetStream(&jetstream_, connection_, &how); made != NATS_OK)
        return fail(client_error("use JetStream", made));
    return {};
}

Status Link::listen(const std::shared_ptr<Mailbox>& mailbox) {
    natsInbox* made = nullptr;
    if (const natsStatus status = natsInbox_Create(&made); status != NATS_OK)
        return fail(client_error("make an inbox", status));
    inbox_ = made;
    natsInbox_Destroy(made);
    const std::uint64_t number = mailbox->begin();
    const auto subscribe = [&](const std::string& subject, Mailbox::Kind kind) -> Status {
        auto listener = std::make_unique<Listener>(mailbox, number, kind);
        natsSubscription* subscription = nullptr;
        natsStatus status =
            natsConnection_Subscribe(&subscription, connection_, subject.c_str(), on_message, listener.get());
        if (status != NATS_OK) return fail(client_error("subscribe", status));
        // The receiving end is bounded by what was asked for; the library must not drop any of it.
        status = natsSubscription_SetPendingLimits(subscription, -1, -1);
        if (status == NATS_OK) status = natsSubscription_SetOnCompleteCB(subscription, on_complete, listener.get());
        // From here on it is the subscription's; also if it closed just now, and may be in use.
        static_cast<void>(listener.release());
        subscriptions_.push_back(subscription);
        if (status != NATS_OK) return fail(client_error("subscribe", status));
        return {};
    };
    SEMEL_TRY(subscribe(inbox_ + ".a.*", Mailbox::Kind::answer));
    return subscribe(inbox_ + ".d", Mailbox::Kind::delivery);
}

Link::~Link() {
    for (natsSubscription* one : subscriptions_) natsSubscription_Destroy(one);
    jsCtx_Destroy(jetstream_);
    natsConnection_Destroy(connection_);
}

Status Link::publish(const std::string& subject, std::uint64_t answer, std::span<const CloudEventAttribute> headers,
                     std::string_view payload) {
    const std::string reply = answer == 0 ? std::string() : inbox_ + ".a." + std::to_string(answer);
    natsMsg* raw = nullptr;
    natsStatus status = natsMsg_Create(&raw, subject.c_str(), reply.empty() ? nullptr : reply.c_str(), payload.data(),
                                       static_cast<int>(payload.size()));
    const NatsMessage message(raw);
    for (const CloudEventAttribute& one : headers)
        if (status == NATS_OK) status = natsMsgHeader_Set(raw, one.name.c_str(), one.value.c_str());
    if (status == NATS_OK) status = natsConnection_PublishMsg(connection_, raw);
    if (status == NATS_OK) return {};
    if (status != NATS_MAX_PAYLOAD) return fail(client_error("publish to NATS", status));
    Error error;
    error.fault = Fault::rejected;
    error.message = "the event is larger than the NATS server takes";
    error.cause.hint = "the server's max_payload can be raised, up to 64 MB";
    return fail(std::move(error));
}

Status Link::request_deliveries(const std::string& subject, std::string_view payload) {
    const std::string reply = inbox_ + ".d";
    const natsStatus status = natsConnection_PublishRequest(connection_, subject.c_str(), reply.c_str(), payload.data(),
                                                            static_cast<int>(payload.size()));
    if (status != NATS_OK) return fail(client_error("ask NATS for messages", status));
    return {};
}

void Link::stop_deliveries() {
    natsSubscription_Destroy(subscriptions_.back());
    subscriptions_.pop_back();
}

bool Link::closed() const { return natsConnection_IsClosed(connection_); }

std::uint64_t answered_request(const NatsMessage& message) {
    const std::string_view subject = natsMsg_GetSubject(message.get());
    const std::string_view token = subject.substr(subject.rfind('.') + 1);
    std::uint64_t number = 0;
    std::from_chars(token.data(), token.data() + token.size(), number);
    return number;
}

}  // namespace semel::nats
