#include "semel/rabbitmq/link.hpp"

#include "semel/rabbitmq/assembly.hpp"
#include "semel/rabbitmq/failure_table.hpp"

#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace semel::rabbitmq {
namespace {

constexpr amqp_channel_t only_channel = 1;
constexpr int frame_max = 131'072;
/// Where Debian and most others keep the certificates that the system trusts: the library looks nowhere by itself.
constexpr const char* system_ca_file = "/etc/ssl/certs/ca-certificates.crt";
constexpr const char* consumer_tag = "semel";
/// For a farewell that nobody may be there to answer. The acknowledgements on their way arrive before it.
constexpr Duration link_farewell_limit = std::chrono::seconds(2);

timeval time_value(Duration limit) {
    const auto microseconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::microseconds>(limit).count());
    return {.tv_sec = microseconds / 1'000'000, .tv_usec = microseconds % 1'000'000};
}

int poll_milliseconds(Duration limit) {
    constexpr Duration longest = std::chrono::hours(1);
    return static_cast<int>(
        std::chrono::ceil<std::chrono::milliseconds>(std::clamp(limit, Duration::zero(), longest)).count());
}

Status answered(std::string_view what, const amqp_rpc_reply_t& reply) {
    switch (reply.reply_type) {
        case AMQP_RESPONSE_NORMAL: return {};
        case AMQP_RESPONSE_SERVER_EXCEPTION: return fail(error_of_close(reply.reply).within(what));
        default: return fail(client_error(what, reply.library_error));
    }
}

amqp_table_entry_t text_entry(std::string_view name, std::string_view value) {
    amqp_table_entry_t entry{};
    entry.key = amqp_bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = amqp_bytes(value);
    return entry;
}

amqp_table_entry_t flag_entry(std::string_view name) {
    amqp_table_entry_t entry{};
    entry.key = amqp_bytes(name);
    entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entry.value.value.boolean = 1;
    return entry;
}

}  // namespace

struct Link::State {
    State(Clock& time, std::chrono::seconds beat) : clock(&time), heartbeat(beat), connection(amqp_new_connection()) {
        SEMEL_ASSERT(connection != nullptr);
    }
    ~State() { amqp_destroy_connection(connection); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[nodiscard]] Status connect(const ConnectionOptions& options, const ServerAddress& server, Duration limit);
    [[nodiscard]] Status login(const ConnectionOptions& options);
    [[nodiscard]] Status reply(std::string_view what) { return keep(answered(what, amqp_get_rpc_reply(connection))); }
    [[nodiscard]] Status status(std::string_view what, int code) {
        return code == AMQP_STATUS_OK ? Status() : keep(fail(client_error(what, code)));
    }
    /// Remembers that nobody is to be talked to any more.
    [[nodiscard]] Status keep(Status outcome) {
        usable = usable && outcome.has_value();
        return outcome;
    }
    [[nodiscard]] bool wait_for_input(Instant until, const Waker* waker) const;

    Clock* clock;
    std::chrono::seconds heartbeat;
    amqp_connection_state_t connection;
    Assembly assembly;
    bool usable = false;
};

Status Link::State::connect(const ConnectionOptions& options, const ServerAddress& server, Duration limit) {
    timeval within = time_value(limit);
    if (amqp_set_handshake_timeout(connection, &within) != AMQP_STATUS_OK ||
        amqp_set_rpc_timeout(connection, &within) != AMQP_STATUS_OK)
        return fail(Fault::broken, "the limits of the connection to RabbitMQ cannot be set");
    amqp_socket_t* socket = options.tls ? amqp_ssl_socket_new(connection) : amqp_tcp_socket_new(connection);
    if (socket == nullptr) return fail(Fault::unavailable, "no socket for RabbitMQ");
    if (options.tls) {
        const std::string ca_file = options.ca_file.empty() ? system_ca_file : options.ca_file;
        if (const int set = amqp_ssl_socket_set_cacert(socket, ca_file.c_str()); set != AMQP_STATUS_OK)
            return fail(client_error("read the certificates to trust", set));
        amqp_ssl_socket_set_verify_peer(socket, 1);
        amqp_ssl_socket_set_verify_hostname(socket, 1);
    }
    const int port = server.port != 0 ? server.port : options.tls ? 5671 : 5672;
    if (const int opened = amqp_socket_open_noblock(socket, server.host.c_str(), port, &within);
        opened != AMQP_STATUS_OK)
        return fail(client_error("connect to RabbitMQ", opened));
    const int on = 1;
    ::setsockopt(amqp_get_sockfd(connection), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return login(options);
}

Status Link::State::login(const ConnectionOptions& options) {
    // What the broker may tell us: when it is short of memory, and when a queue goes away.
    std::array<amqp_table_entry_t, 2> known{flag_entry("connection.blocked"), flag_entry("consumer_cancel_notify")};
    std::array<amqp_table_entry_t, 2> entries{text_entry("product", "semel"), text_entry("capabilities", "")};
    entries[1].value.kind = AMQP_FIELD_KIND_TABLE;
    entries[1].value.value.table = {.num_entries = static_cast<int>(known.size()), .entries = known.data()};
    const amqp_table_t properties{.num_entries = static_cast<int>(entries.size()), .entries = entries.data()};
    SEMEL_TRY(answered("log in to RabbitMQ",
                       amqp_login_with_properties(
                           connection, options.vhost.c_str(), 0, frame_max, static_cast<int>(heartbeat.count()),
                           &properties, AMQP_SASL_METHOD_PLAIN, options.user.c_str(), options.password.c_str())));
    amqp_channel_open(connection, only_channel);
    SEMEL_TRY(answered("open a channel of RabbitMQ", amqp_get_rpc_reply(connection)));
    usable = true;
    return {};
}

Link::Link(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Link::~Link() {
    if (!state_->usable) return;
    timeval within = time_value(link_farewell_limit);
    amqp_set_rpc_timeout(state_->connection, &within);
    amqp_connection_close(state_->connection, AMQP_REPLY_SUCCESS);
}

Result<std::unique_ptr<Link>> Link::open(const ConnectionOptions& options, std::chrono::seconds heartbeat, Clock& clock,
                                         Deadline deadline) {
    static std::atomic<std::size_t> first = 0;
    Error last;
    last.fault = Fault::unavailable;
    last.message = "no RabbitMQ server was reached in time";
    const std::size_t begin = first++;
    for (std::size_t n = 0; n < options.servers.size(); ++n) {
        const Duration left = std::min(options.connect_limit, deadline.remaining(clock.now()));
        if (left <= Duration::zero()) break;
        auto state = std::make_unique<State>(clock, heartbeat);
        const Status connected = state->connect(options, options.servers[(begin + n) % options.servers.size()], left);
        if (!connected) {
            last = connected.error();
            continue;
        }
        timeval within = time_value(options.connect_limit);
        amqp_set_rpc_timeout(state->connection, &within);
        return std::unique_ptr<Link>(new Link(std::move(state)));
    }
    return fail(std::move(last));
}

Status Link::declare(const QueueDeclaration& declaration) {
    amqp_connection_state_t connection = state_->connection;
    if (!declaration.exchange.empty()) {
        amqp_exchange_declare(connection, only_channel, amqp_bytes(declaration.exchange),
                              amqp_bytes(declaration.exchange_type), 0, 1, 0, 0, amqp_empty_table);
        SEMEL_TRY(state_->reply("declare the exchange " + declaration.exchange));
    }
    if (declaration.queue.empty()) return {};
    std::array<amqp_table_entry_t, 2> arguments{text_entry("x-queue-type", "quorum"),
                                                flag_entry("x-single-active-consumer")};
    const amqp_table_t table{.num_entries = declaration.single_active_consumer ? 2 : 1, .entries = arguments.data()};
    amqp_queue_declare(connection, only_channel, amqp_bytes(declaration.queue), 0, 1, 0, 0, table);
    SEMEL_TRY(state_->reply("declare the queue " + declaration.queue));
    if (declaration.exchange.empty()) return {};
    amqp_queue_bind(connection, only_channel, amqp_bytes(declaration.queue), amqp_bytes(declaration.exchange),
                    amqp_bytes(declaration.binding), amqp_empty_table);
    return state_->reply("bind the queue " + declaration.queue);
}

Status Link::find_exchange(const std::string& exchange) {
    if (exchange.empty()) return {};
    amqp_exchange_declare(state_->connection, only_channel, amqp_bytes(exchange), amqp_empty_bytes, 1, 0, 0, 0,
                          amqp_empty_table);
    return state_->reply("look for the exchange " + exchange);
}

Status Link::confirm_publishes() {
    amqp_confirm_select(state_->connection, only_channel);
    return state_->reply("ask RabbitMQ for confirms");
}

Status Link::consume(const std::string& queue, std::uint16_t prefetch) {
    amqp_basic_qos(state_->connection, only_channel, 0, prefetch, 0);
    SEMEL_TRY(state_->reply("set the prefetch"));
    amqp_basic_consume(state_->connection, only_channel, amqp_bytes(queue), amqp_cstring_bytes(consumer_tag), 0, 0, 0,
                       amqp_empty_table);
    return state_->reply("consume the queue " + queue);
}

Status Link::stop_consuming(Duration limit) {
    if (!state_->usable) return fail(Fault::unavailable, "the connection to RabbitMQ broke");
    timeval within = time_value(limit);
    amqp_set_rpc_timeout(state_->connection, &within);
    amqp_basic_cancel(state_->connection, only_channel, amqp_cstring_bytes(consumer_tag));
    return state_->reply("stop consuming");
}

Status Link::publish(const Outgoing& message, Duration limit) {
    /// Short strings of AMQP have no more; whoever wants the whole type finds it among the headers.
    constexpr std::size_t short_string_max = 255;
    // The library waits for a full socket without any limit; the operating system does not.
    const auto patience = static_cast<unsigned>(std::max(1, poll_milliseconds(limit)));
    ::setsockopt(amqp_get_sockfd(state_->connection), IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
    amqp_basic_properties_t properties{};
    std::vector<amqp_table_entry_t> entries;
    for (const CloudEventAttribute& one : message.headers) {
        if (one.name == "content-type") {
            properties._flags |= AMQP_BASIC_CONTENT_TYPE_FLAG;
            properties.content_type = amqp_bytes(one.value);
            continue;
        }
        entries.push_back(text_entry(one.name, one.value));
    }
    properties._flags |= AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG |
                         AMQP_BASIC_TIMESTAMP_FLAG;
    properties.headers = {.num_entries = static_cast<int>(entries.size()), .entries = entries.data()};
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    properties.message_id = amqp_bytes(message.message_id);
    properties.timestamp = message.timestamp;
    if (message.type.size() <= short_string_max) {
        properties._flags |= AMQP_BASIC_TYPE_FLAG;
        properties.type = amqp_bytes(message.type);
    }
    const amqp_boolean_t mandatory = 1;
    return state_->status(
        "publish to RabbitMQ",
        amqp_basic_publish(state_->connection, only_channel, amqp_bytes(message.exchange),
                           amqp_bytes(message.routing_key), mandatory, 0, &properties, amqp_bytes(message.body)));
}

Status Link::acknowledge(std::uint64_t tag) {
    return state_->status("acknowledge", amqp_basic_ack(state_->connection, only_channel, tag, 0));
}

Status Link::requeue(std::uint64_t tag) {
    return state_->status("give back", amqp_basic_nack(state_->connection, only_channel, tag, 0, 1));
}

/// True: there may be something to read, or a heartbeat is due. False: the time has come, or someone woke us.
bool Link::State::wait_for_input(Instant until, const Waker* waker) const {
    if (amqp_frames_enqueued(connection) != 0 || amqp_data_in_buffer(connection) != 0) return true;
    Duration left = until == Instant::max() ? Duration::max() : until - clock->now();
    // Twice in each interval, so that none is late.
    const bool beats = heartbeat.count() > 0 && left > heartbeat / 2;
    if (beats) left = heartbeat / 2;
    std::array<pollfd, 2> ready{pollfd{.fd = amqp_get_sockfd(connection), .events = POLLIN, .revents = 0},
                                pollfd{.fd = waker != nullptr ? waker->fd() : -1, .events = POLLIN, .revents = 0}};
    const int polled = ::poll(ready.data(), ready.size(), poll_milliseconds(left));
    if (ready[1].revents != 0) return false;
    return polled != 0 || beats;
}

Result<std::optional<Incoming>> Link::next(Instant until, const Waker* waker) {
    State& state = *state_;
    if (!state.usable) return fail(Fault::unavailable, "the connection to RabbitMQ broke");
    while (state.wait_for_input(until, waker)) {
        amqp_maybe_release_buffers(state.connection);
        amqp_frame_t frame{};
        const timeval at_once{};
        const int read = amqp_simple_wait_frame_noblock(state.connection, &frame, &at_once);
        if (read == AMQP_STATUS_TIMEOUT) {
            if (state.clock->now() >= until) return std::optional<Incoming>();
            continue;
        }
        if (read != AMQP_STATUS_OK) {
            state.usable = false;
            return fail(client_error("the connection to RabbitMQ broke", read));
        }
        auto incoming = state.assembly.add(frame);
        if (!incoming) state.usable = false;
        if (!incoming || *incoming) return incoming;
    }
    return std::optional<Incoming>();
}

}  // namespace semel::rabbitmq
