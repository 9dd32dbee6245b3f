#include "semel/http/wire.hpp"

#include "semel/http/body.hpp"
#include "semel/http/head.hpp"
#include "semel/retry/socket_table.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace semel::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto token = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t read_size = 16 * 1024;
/// Interim answers before the one that counts; more is a game.
constexpr int interim_max = 10;

/// The code of a failure as the tables of the retry engine write it.
std::string_view code_of(const error_code& error) noexcept {
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) return socket_end_of_file;
    if (error.category() == asio::error::get_netdb_category()) {
        if (error == asio::error::host_not_found_try_again) return resolver_code(EAI_AGAIN);
        if (error == asio::error::host_not_found || error == asio::error::no_data) return resolver_code(EAI_NONAME);
        return resolver_code(EAI_FAIL);
    }
    if (error.category() == asio::error::get_ssl_category()) return "TLS";
    return socket_code(error.value());
}

}  // namespace

Wire::Wire(asio::io_context& context, Clock& clock, const ClientOptions& options)
    : context_(context), clock_(clock), options_(options), socket_(context), timer_(context) {}

void Wire::arm(Timeout kind, Duration limit, Deadline end) {
    const Duration remaining = end.remaining(clock_.now());
    // The step's own limit, or the attempt's: whichever strikes names itself.
    armed_ = remaining < limit ? Timeout::request : kind;
    timer_.expires_after(std::min(limit, remaining));
    timer_.async_wait([self = weak_from_this(), number = ++arms_](const error_code& error) {
        const auto wire = self.lock();
        if (error || !wire || wire->arms_ != number) return;
        wire->expired_ = true;
        error_code ignored;
        ignored = wire->socket_.close(ignored);
    });
}

void Wire::disarm() noexcept {
    ++arms_;
    timer_.cancel();
}

Error Wire::failure(const error_code& error, std::string_view timeout_code) const {
    const std::string_view code = expired_ ? timeout_code : code_of(error);
    Error failed;
    failed.fault = classify_socket(code, sent_ ? Phase::commit : Phase::connect);
    failed.cause.code = code;
    if (expired_) {
        failed.cause.timeout = armed_;
        failed.message = std::string(code);
        if (armed_ == Timeout::request) failed.message += ", as the attempt's own limit ran out";
    } else {
        const Rule* rule = find(socket_rules(), code);
        failed.message = rule != nullptr ? std::string(rule->name) : std::string("the connection failed");
        failed.native = error.message();
    }
    return failed;
}

asio::awaitable<Status> Wire::open(Url url, asio::ssl::context& tls, Deadline end) {
    if (Status connected = co_await connect(url, end); !connected) co_return connected;
    if (url.tls) co_return co_await shake_hands(url, tls, end);
    co_return Status();
}

/// Resolving cannot be broken off, so it is not waited for: the timer is, and a result cancels it.
asio::awaitable<Result<tcp::resolver::results_type>> Wire::resolve(const Url& url, Deadline end) {
    struct Lookup {
        explicit Lookup(asio::io_context& context) : resolver(context), timer(context) {}
        tcp::resolver resolver;
        asio::steady_timer timer;
        error_code error;
        tcp::resolver::results_type results;
        bool finished = false;
    };
    error_code error;
    const auto address = asio::ip::make_address(url.host, error);
    const std::string service = std::to_string(url.port);
    if (!error) {
        co_return tcp::resolver::results_type::create(tcp::endpoint(address, url.port), url.host, service);
    }
    const auto lookup = std::make_shared<Lookup>(context_);
    const Duration remaining = end.remaining(clock_.now());
    armed_ = remaining < options_.timeouts.dns ? Timeout::request : Timeout::dns;
    lookup->timer.expires_after(std::min(remaining, options_.timeouts.dns));
    lookup->resolver.async_resolve(url.host, service, [lookup](const error_code& result, auto results) {
        lookup->error = result;
        lookup->results = std::move(results);
        lookup->finished = true;
        lookup->timer.cancel();
    });
    while (!lookup->finished) {
        const auto [waited] = co_await lookup->timer.async_wait(token);
        if (!waited) break;
    }
    expired_ = !lookup->finished;
    if (expired_ || lookup->error) co_return fail(failure(lookup->error, socket_dns_timeout));
    co_return std::move(lookup->results);
}

asio::awaitable<Status> Wire::connect(const Url& url, Deadline end) {
    auto found = co_await resolve(url, end);
    if (!found) co_return fail(std::move(found).error());
    const Deadline until = end.within(clock_.now(), options_.timeouts.connect);
    auto left = static_cast<Duration::rep>(found->size());
    error_code error = asio::error::host_not_found;
    for (const auto& entry : *found) {
        // Each address gets its share of the time, so that a dead one leaves some to the next.
        expired_ = false;
        arm(Timeout::connect, until.remaining(clock_.now()) / left--, end);
        error_code ignored;
        ignored = socket_.close(ignored);
        std::tie(error) = co_await socket_.async_connect(entry.endpoint(), token);
        if (!error && !expired_) break;
    }
    disarm();
    if (error || expired_) co_return fail(failure(error, socket_connect_timeout));
    error = socket_.set_option(tcp::no_delay(true), error);
    co_return Status();
}

asio::awaitable<Status> Wire::shake_hands(const Url& url, asio::ssl::context& tls, Deadline end) {
    tls_.emplace(socket_, tls);
    tls_->set_verify_mode(asio::ssl::verify_peer);
    tls_->set_verify_callback(asio::ssl::host_name_verification(url.host));
    // A name of its own for servers that have several; an address is none.
    error_code not_an_address;
    static_cast<void>(asio::ip::make_address(url.host, not_an_address));
    if (not_an_address) {
        // Not changed by OpenSSL, which copies it.
        SSL_ctrl(tls_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(url.host.c_str()));
    }
    arm(Timeout::tls, options_.timeouts.tls, end);
    const auto [error] = co_await tls_->async_handshake(asio::ssl::stream_base::client, token);
    disarm();
    if (!error && !expired_) co_return Status();
    Error failed = failure(error, socket_tls_timeout);
    if (!expired_ && SSL_get_verify_result(tls_->native_handle()) != X509_V_OK) {
        failed.fault = classify_socket(socket_tls_certificate, Phase::connect);
        failed.cause.code = socket_tls_certificate;
        failed.message = "the server's certificate is not accepted";
    }
    co_return fail(std::move(failed));
}

asio::awaitable<Result<Response>> Wire::exchange(std::string_view head, std::string_view body, bool to_head,
                                                 Deadline end) {
    sent_ = answered_ = reusable_ = expired_ = false;
    const std::array<asio::const_buffer, 2> request = {asio::buffer(head.data(), head.size()),
                                                       asio::buffer(body.data(), body.size())};
    arm(Timeout::write, options_.timeouts.write, end);
    error_code error;
    std::size_t count = 0;
    if (tls_) {
        std::tie(error, count) = co_await asio::async_write(*tls_, request, token);
    } else {
        std::tie(error, count) = co_await asio::async_write(socket_, request, token);
    }
    // Of an encrypted record, part may have left before the rest failed.
    sent_ = count > 0 || tls_.has_value();
    const bool broken = error && !expired_;
    Error unsent;
    if (error) {
        unsent = failure(error, socket_write_timeout);
        if (!broken || !sent_) co_return fail(std::move(unsent));
    }
    // A server that refuses a long body answers before it has read it, and closes.
    arm(Timeout::read, options_.timeouts.read, end);
    auto answer = co_await read_answer(to_head);
    disarm();
    if (!answer && broken) co_return fail(std::move(unsent));
    reusable_ = reusable_ && !broken && !expired_;
    co_return answer;
}

asio::awaitable<Result<std::size_t>> Wire::read_some(std::string& buffer) {
    const std::size_t before = buffer.size();
    buffer.resize(before + read_size);
    const auto room = asio::buffer(buffer.data() + before, read_size);
    error_code error;
    std::size_t count = 0;
    if (tls_) {
        std::tie(error, count) = co_await tls_->async_read_some(room, token);
    } else {
        std::tie(error, count) = co_await socket_.async_read_some(room, token);
    }
    buffer.resize(before + count);
    if (count > 0) answered_ = true;
    if (!error) co_return count;
    if (!expired_ && (error == asio::error::eof || error == asio::ssl::error::stream_truncated)) co_return 0U;
    co_return fail(failure(error, socket_read_timeout));
}

asio::awaitable<Result<Response>> Wire::read_answer(bool to_head) {
    std::string buffer;
    Response response;
    HeadFacts facts;
    for (int interim = 0;; ++interim) {
        HeadScan scan;
        HeadScan::Verdict verdict = HeadScan::Verdict::more;
        while ((verdict = scan.scan(buffer, {.first_line = options_.head_max,
                                             .head = options_.head_max,
                                             .fields = options_.head_max})) == HeadScan::Verdict::more) {
            const auto count = co_await read_some(buffer);
            if (!count) co_return fail(count.error());
            if (*count == 0) co_return fail(failure(asio::error::eof, socket_read_timeout));
            // Something else speaks there; it may never send what we would wait for.
            if (!std::string_view("HTTP/").starts_with(buffer.substr(0, 5))) verdict = HeadScan::Verdict::malformed;
            if (verdict == HeadScan::Verdict::malformed) break;
        }
        if (verdict != HeadScan::Verdict::complete || interim > interim_max) {
            co_return fail(Fault::unknown, "the answer is malformed or its head is too large");
        }
        response = {};
        auto parsed = parse_response_head(std::string_view(buffer).substr(scan.begin(), scan.end() - scan.begin()),
                                          to_head, response);
        if (!parsed) co_return fail(std::move(parsed).error());
        facts = *parsed;
        buffer.erase(0, scan.end());
        if (response.status >= 200) break;
    }
    BodyReader reader(facts, options_.body_max);
    for (;;) {
        buffer.erase(0, reader.feed(buffer, response.body));
        if (reader.state() != BodyReader::State::more) break;
        const auto count = co_await read_some(buffer);
        if (!count) co_return fail(count.error());
        if (*count > 0) continue;
        reader.end();
        if (reader.state() == BodyReader::State::malformed) {
            co_return fail(failure(asio::error::eof, socket_read_timeout));
        }
    }
    if (reader.state() == BodyReader::State::too_large) {
        co_return fail(Fault::unknown, "the answer is larger than " + std::to_string(options_.body_max) + " bytes");
    }
    if (reader.state() == BodyReader::State::malformed) {
        co_return fail(Fault::unknown, "the answer is malformed: its chunks cannot be read");
    }
    reusable_ = facts.keep_alive && buffer.empty();
    co_return response;
}

bool Wire::is_quiet() {
    char byte = 0;
    error_code error;
    error = socket_.non_blocking(true, error);
    static_cast<void>(socket_.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, error));
    return error == asio::error::would_block;
}

}  // namespace semel::http
