#include "semel/http/head_rules.hpp"

#include "semel/http/context_headers.hpp"
#include "semel/http/idempotency_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace semel::http::detail {
namespace {

tl::unexpected<Problem> malformed(std::string detail) {
    return tl::unexpected(Problem(problems::malformed_request, std::move(detail)));
}

constexpr bool is_host_character(char c) noexcept {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return std::string_view("-._~:[]").find(c) != std::string_view::npos;
}

/// Fields that mean one thing: who sees two of them cannot know which the next one takes.
constexpr std::array<std::string_view, 6> single_fields = {"Host",          "Content-Type", "Content-Length",
                                                           "Authorization", "Expect",       "Transfer-Encoding"};

/// What is in the fields that decide how a message is read, found in one pass.
struct Deciding {
    std::array<const std::string*, single_fields.size()> values{};
    std::size_t keys = 0;
    const std::string_view* repeated = nullptr;

    explicit Deciding(const Headers& headers) {
        for (const Headers::Field& field : headers) {
            for (std::size_t i = 0; i < single_fields.size(); ++i) {
                if (!same_name(field.name, single_fields[i])) continue;
                if (values[i] != nullptr) repeated = &single_fields[i];
                values[i] = &field.value;
            }
            if (same_name(field.name, idempotency_key_header)) ++keys;
        }
    }
    [[nodiscard]] const std::string* host() const noexcept { return values[0]; }
    [[nodiscard]] const std::string* length() const noexcept { return values[2]; }
    [[nodiscard]] const std::string* expect() const noexcept { return values[4]; }
    [[nodiscard]] const std::string* coding() const noexcept { return values[5]; }
};

/// Digits alone: no sign, no list, no blank.
std::optional<std::uint64_t> parse_length(std::string_view text) noexcept {
    std::uint64_t length = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), length);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return length;
}

}  // namespace

tl::expected<HeadFacts, Problem> check_request(const Request& request, bool http11, bool keep_alive) {
    const Deciding fields(request.headers);
    if (fields.repeated != nullptr) return malformed(std::string(*fields.repeated) + " must be given once.");
    if (fields.keys > 1) {
        return tl::unexpected(Problem(problems::invalid_idempotency_key, "Idempotency-Key must be given once."));
    }
    if (http11 && fields.host() == nullptr) return malformed("Host is missing.");
    if (fields.host() != nullptr &&
        (fields.host()->empty() || !std::ranges::all_of(*fields.host(), is_host_character))) {
        return malformed("Host must be a name or an address, with or without a port.");
    }
    HeadFacts facts{.http11 = http11, .keep_alive = keep_alive};
    if (fields.coding() != nullptr) {
        if (fields.length() != nullptr) return malformed("Transfer-Encoding and Content-Length exclude each other.");
        if (!http11) return malformed("Transfer-Encoding needs HTTP/1.1.");
        if (!same_name(*fields.coding(), "chunked")) {
            return tl::unexpected(Problem(problems::not_implemented, "The only transfer coding is chunked."));
        }
        facts.framing = Framing::chunked;
    } else if (fields.length() != nullptr) {
        const auto length = parse_length(*fields.length());
        if (!length) return malformed("Content-Length must be one whole number.");
        facts.framing = *length == 0 ? Framing::none : Framing::length;
        facts.length = *length;
    }
    if (fields.expect() != nullptr) {
        if (!same_name(*fields.expect(), "100-continue")) return tl::unexpected(Problem(problems::expectation_failed));
        facts.expects_continue = http11 && facts.framing != Framing::none;
    }
    return facts;
}

Result<HeadFacts> check_response(const Response& response, bool http11, bool keep_alive, bool to_head) {
    HeadFacts facts{.http11 = http11, .keep_alive = keep_alive};
    // They have no body, whatever their fields say.
    if (to_head || response.status < 200 || response.status == 204 || response.status == 304) return facts;
    const Deciding fields(response.headers);
    if (fields.coding() != nullptr) {
        if (fields.length() != nullptr || !same_name(*fields.coding(), "chunked") || fields.repeated != nullptr) {
            return fail(Fault::unknown, "the answer is malformed: it does not say clearly where its body ends");
        }
        facts.framing = Framing::chunked;
    } else if (fields.length() != nullptr) {
        const auto length = parse_length(*fields.length());
        if (!length || response.headers.count("Content-Length") > 1) {
            return fail(Fault::unknown, "the answer is malformed: its Content-Length is not one whole number");
        }
        facts.framing = *length == 0 ? Framing::none : Framing::length;
        facts.length = *length;
    } else {
        facts.framing = Framing::until_close;
        facts.keep_alive = false;
    }
    return facts;
}

}  // namespace semel::http::detail
