#include "semel/webhook/exchange.hpp"

#include "semel/base/assert.hpp"
#include "semel/webhook/address.hpp"
#include "semel/webhook/answer.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace semel::webhook {
namespace {

/// Of an answer's body, enough for a person to see why; the rest is not read.
constexpr std::size_t body_max = 4 * 1024;
/// Of an answer's head. Nobody needs more, and a hostile receiver could send without end.
constexpr std::size_t head_max = 64 * 1024;

bool is_header(std::string_view line, std::string_view name) {
    return line.size() > name.size() && line[name.size()] == ':' &&
           std::ranges::equal(line.substr(0, name.size()), name, [](char one, char other) {
               return std::tolower(static_cast<unsigned char>(one)) == static_cast<unsigned char>(other);
           });
}

std::string value_of(std::string_view line) {
    line.remove_prefix(line.find(':') + 1);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return std::string(line.substr(begin, line.find_last_not_of(" \t\r\n") + 1 - begin));
}

long milliseconds(Duration duration) {
    // Zero would mean no limit at all.
    return std::max(1L, static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(duration).count()));
}

BytesView bytes_of_address(const curl_sockaddr& address) noexcept {
    // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): that is how addresses are given.
    if (address.family == AF_INET)
        return std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in*>(&address.addr)->sin_addr, 1));
    if (address.family == AF_INET6)
        return std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in6*>(&address.addr)->sin6_addr, 1));
    // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
    return {};
}

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
    const CURLcode code = ::curl_easy_setopt(handle, option, value);
    SEMEL_ASSERT(code == CURLE_OK);
}

Timeout limit_of(CURL* handle) {
    curl_off_t connected = 0;
    ::curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &connected);
    return connected > 0 ? Timeout::request : Timeout::connect;
}

}  // namespace

Exchange::Exchange(const SinkOptions& options) : options_(&options), handle_(::curl_easy_init()) {
    SEMEL_ASSERT(handle_);
    set_fixed_options();
}

void Exchange::set_fixed_options() {
    CURL* handle = handle_.get();
    set(handle, CURLOPT_URL, options_->url.c_str());
    set(handle, CURLOPT_PROTOCOLS_STR, options_->allow_private ? "http,https" : "https");
    set(handle, CURLOPT_FOLLOWLOCATION, 0L);
    // A proxy named in the environment would connect in our place, where nobody looks at the address.
    set(handle, CURLOPT_PROXY, "");
    set(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    // One request per connection at a time: what was sent is known for each of them.
    set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(handle, CURLOPT_NOSIGNAL, 1L);
    set(handle, CURLOPT_USERAGENT, "semel");
    set(handle, CURLOPT_TCP_NODELAY, 1L);
    if (!options_->ca_file.empty()) set(handle, CURLOPT_CAINFO, options_->ca_file.c_str());
    set(handle, CURLOPT_PRIVATE, static_cast<void*>(this));
    set(handle, CURLOPT_HEADERFUNCTION, &Exchange::header_came);
    set(handle, CURLOPT_HEADERDATA, static_cast<void*>(this));
    set(handle, CURLOPT_WRITEFUNCTION, &Exchange::body_came);
    set(handle, CURLOPT_WRITEDATA, static_cast<void*>(this));
    set(handle, CURLOPT_OPENSOCKETFUNCTION, &Exchange::open_socket);
    set(handle, CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
}

void Exchange::add_header(std::string_view name, std::string_view value) {
    std::string line(name);
    line.append(": ").append(value);
    curl_slist* longer = ::curl_slist_append(headers_.get(), line.c_str());
    SEMEL_ASSERT(longer != nullptr);
    static_cast<void>(
        headers_.release());  // NOLINT(bugprone-unused-return-value): it is the beginning of the longer one.
    headers_.reset(longer);
}

Status Exchange::prepare(const Message& message, std::size_t number, Timestamp now, Duration limit) {
    headers_.reset();
    body_.clear();
    retry_after_.clear();
    location_.clear();
    head_size_ = 0;
    answered_ = false;
    refused_address_ = {};
    number_ = number;

    std::string_view body;
    if (options_->mode == Mode::structured) {
        structured_ = SEMEL_TRY(structured_cloud_event(message, options_->event));
        body = structured_;
        add_header("content-type", "application/cloudevents+json");
    } else {
        const BinaryCloudEvent event =
            SEMEL_TRY(binary_cloud_event(message, options_->event, "ce-", HeaderEncoding::percent));
        for (const auto& [name, value] : event.headers) add_header(name, value);
        body = event.body;
    }
    const std::string id = message.id.text();
    const std::string timestamp =
        std::to_string(std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
    add_header(id_header, id);
    add_header(timestamp_header, timestamp);
    if (!options_->secrets.empty())
        add_header(signature_header, sign({.id = id, .timestamp = timestamp, .body = body}, options_->secrets));
    // curl would ask first and wait a second for those who do not know the question.
    headers_.reset(::curl_slist_append(headers_.release(), "Expect:"));

    CURL* handle = handle_.get();
    set(handle, CURLOPT_POST, 1L);
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): its size is given above.
    set(handle, CURLOPT_POSTFIELDS, body.data());
    set(handle, CURLOPT_HTTPHEADER, headers_.get());
    set(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(std::min(limit, options_->connect_limit)));
    set(handle, CURLOPT_TIMEOUT_MS, milliseconds(limit));
    return {};
}

Status Exchange::finish(CURLcode code, Timestamp now) const {
    // Once the answer's head is here, it counts: what goes wrong with the rest of it changes nothing.
    if (!answered_) return not_answered(code);
    long status = 0;
    ::curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    return judge({.status = status, .retry_after = retry_after_, .location = location_, .body = body_}, now);
}

Status Exchange::not_answered(CURLcode code) const {
    Error error;
    error.native = ::curl_easy_strerror(code);
    error.cause.code = "curl " + std::to_string(static_cast<int>(code));
    if (code == CURLE_OPERATION_TIMEDOUT) error.cause.timeout = limit_of(handle_.get());
    long sent = 0;
    ::curl_easy_getinfo(handle_.get(), CURLINFO_REQUEST_SIZE, &sent);
    if (sent > 0) {
        error.fault = Fault::unknown;
        error.message = "the event was sent and not answered";
    } else if (!refused_address_.empty()) {
        error.fault = Fault::unavailable;
        error.message = "not sent: the receiver's name leads to an address that is ";
        error.message.append(refused_address_);
        error.cause.hint = "private addresses must be allowed explicitly";
    } else if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
        error.fault = Fault::unavailable;
        error.message = "not sent: the receiver's certificate cannot be trusted";
        error.cause.hint = "it must be valid, for this name, and from an authority that this machine trusts";
    } else {
        error.fault = Fault::unavailable;
        error.message = "not sent: the receiver cannot be reached";
    }
    return fail(std::move(error));
}

bool Exchange::reached_nobody() const noexcept {
    long sent = 0;
    ::curl_easy_getinfo(handle_.get(), CURLINFO_REQUEST_SIZE, &sent);
    return !answered_ && sent == 0;
}

void Exchange::on_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {
        retry_after_.clear();
        location_.clear();
    } else if (is_header(line, "retry-after")) {
        retry_after_ = value_of(line);
    } else if (is_header(line, "location")) {
        location_ = value_of(line);
    } else if (line == "\r\n" || line == "\n") {
        long status = 0;
        ::curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
        answered_ = status >= 200;
    }
}

std::size_t Exchange::header_came(char* data, std::size_t size, std::size_t count, void* self) noexcept {
    auto* exchange = static_cast<Exchange*>(self);
    const std::size_t all = size * count;
    exchange->head_size_ += all;
    if (exchange->head_size_ > head_max) return 0;
    // Behind the body come trailers: they are no part of the head.
    if (!exchange->answered_) exchange->on_header({data, all});
    return all;
}

std::size_t Exchange::body_came(char* data, std::size_t size, std::size_t count, void* self) noexcept {
    auto* exchange = static_cast<Exchange*>(self);
    const std::size_t all = size * count;
    const std::size_t room = body_max - exchange->body_.size();
    exchange->body_.append(data, std::min(all, room));
    return std::min(all, room);
}

curl_socket_t Exchange::open_socket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept {
    auto* exchange = static_cast<Exchange*>(self);
    if (purpose != CURLSOCKTYPE_IPCXN) return CURL_SOCKET_BAD;
    if (!exchange->options_->allow_private) {
        const std::string_view why = why_not_public(bytes_of_address(*address));
        if (!why.empty()) {
            exchange->refused_address_ = why;
            return CURL_SOCKET_BAD;
        }
    }
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}  // namespace semel::webhook
