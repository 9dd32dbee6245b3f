#include "semel/http/head.hpp"

#include "semel/http/head_rules.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace semel::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;

/// Beast's parser, told to end with the head: bodies are framed by our own, stricter rules.
template <bool is_request>
class HeadParser final : public beast::http::basic_parser<is_request> {
public:
    explicit HeadParser(Headers& headers) : headers_(&headers) {
        this->skip(true);
        // The scan has measured it already.
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
    }

    error_code parse(std::string_view head) {
        error_code error;
        const std::size_t used = this->put(boost::asio::const_buffer(head.data(), head.size()), error);
        if (!error && (!this->is_header_done() || used != head.size())) error = beast::http::error::partial_message;
        return error;
    }

    std::string_view method{};
    std::string_view target{};
    int status = 0;
    int version = 0;

private:
    static std::string_view plain(beast::string_view text) noexcept { return {text.data(), text.size()}; }

    void on_request_impl(beast::http::verb, beast::string_view method_text, beast::string_view target_text,
                         int version_number, error_code&) override {
        method = plain(method_text);
        target = plain(target_text);
        version = version_number;
    }
    void on_response_impl(int code, beast::string_view, int version_number, error_code&) override {
        status = code;
        version = version_number;
    }
    void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value, error_code&) override {
        headers_->add(std::string(plain(name)), std::string(plain(value)));
    }
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(beast::string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}

    Headers* headers_;
};

/// The request line ends with a version that is well-formed and not ours.
bool has_other_version(std::string_view head) noexcept {
    const std::string_view line = head.substr(0, head.find('\r'));
    const auto space = line.rfind(' ');
    if (space == std::string_view::npos) return false;
    const std::string_view version = line.substr(space + 1);
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return version.size() == 8 && version.starts_with("HTTP/") && is_digit(version[5]) && version[6] == '.' &&
           is_digit(version[7]) && version != "HTTP/1.1" && version != "HTTP/1.0";
}

}  // namespace

tl::expected<HeadFacts, Problem> parse_request_head(std::string_view head, Request& request) {
    HeadParser<true> parser(request.headers);
    if (const error_code error = parser.parse(head)) {
        if (error == beast::http::error::bad_version && has_other_version(head)) {
            return tl::unexpected(Problem(problems::version_not_supported));
        }
        return tl::unexpected(Problem(problems::malformed_request, error.message() + "."));
    }
    request.method.assign(parser.method);
    request.target.assign(parser.target);
    return detail::check_request(request, parser.version == 11, parser.keep_alive());
}

Result<HeadFacts> parse_response_head(std::string_view head, bool to_head, Response& response) {
    HeadParser<false> parser(response.headers);
    if (const error_code error = parser.parse(head)) {
        return fail(Fault::unknown, "the answer is malformed: " + error.message());
    }
    response.status = static_cast<unsigned>(parser.status);
    return detail::check_response(response, parser.version == 11, parser.keep_alive(), to_head);
}

}  // namespace semel::http
