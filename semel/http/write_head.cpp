#include "semel/http/write_head.hpp"

#include "semel/http/context_headers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace semel::http {
namespace {

constexpr std::array<std::pair<unsigned, std::string_view>, 36> phrases = {{
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
}};
static_assert(std::ranges::is_sorted(phrases, {}, &std::pair<unsigned, std::string_view>::first));

void append_number(std::string& out, std::size_t number) {
    std::array<char, 20> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    out.append(digits.data(), written.ptr);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
}

/// The server's own business: whatever a handler set there would contradict it.
bool is_servers(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 5> names = {"Content-Length", "Connection", "Date", "Transfer-Encoding",
                                                       correlation_header};
    return std::ranges::any_of(names, [name](std::string_view own) { return same_name(own, name); });
}

}  // namespace

std::string_view reason_phrase(unsigned status) noexcept {
    const auto* found = std::ranges::lower_bound(phrases, status, {}, &std::pair<unsigned, std::string_view>::first);
    return found != phrases.end() && found->first == status ? found->second : std::string_view();
}

bool is_sendable(const Response& response) noexcept {
    if (response.status < 200 || response.status > 999) return false;
    return std::ranges::all_of(response.headers, [](const Headers::Field& field) {
        return is_field_name(field.name) && is_field_value(field.value);
    });
}

void write_response_head(std::string& out, const Response& response, const Closing& closing) {
    out.append("HTTP/1.1 ");
    append_number(out, response.status);
    out.append(" ").append(reason_phrase(response.status)).append("\r\n");
    for (const Headers::Field& field : response.headers) {
        if (!is_servers(field.name)) append_field(out, field.name, field.value);
    }
    if (!closing.date.empty()) append_field(out, "Date", closing.date);
    if (!closing.correlation.empty()) append_field(out, correlation_header, closing.correlation);
    if (!closing.keep_alive) {
        out.append("Connection: close\r\n");
    } else if (!closing.http11) {
        out.append("Connection: keep-alive\r\n");
    }
    if (response.status != 204 && response.status != 304) {
        out.append("Content-Length: ");
        append_number(out, response.content().size());
        out.append("\r\n");
    }
    out.append("\r\n");
}

void write_request_head(std::string& out, std::string_view method, std::string_view target, const Headers& headers) {
    out.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
    for (const Headers::Field& field : headers) append_field(out, field.name, field.value);
    out.append("\r\n");
}

}  // namespace semel::http
