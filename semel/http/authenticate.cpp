#include "semel/http/authenticate.hpp"

#include "semel/base/hex.hpp"
#include "semel/http/message.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace semel::http {
namespace {

constexpr bool is_name_character(char c) noexcept {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return std::string_view("._-:@").find(c) != std::string_view::npos;
}

Result<Digest> parse_digest(std::string_view text) {
    Digest digest{};
    bool valid = text.size() == 2 * digest.size();
    for (std::size_t i = 0; valid && i < digest.size(); ++i) {
        const int high = hex_value(text[2 * i]);
        const int low = hex_value(text[2 * i + 1]);
        valid = high >= 0 && low >= 0;
        if (valid) digest[i] = static_cast<std::byte>(high * 16 + low);
    }
    if (!valid) return fail(Fault::rejected, "the hash of a token is 64 hexadecimal digits (SHA-256)");
    return digest;
}

/// The next word of a line, taken off it.
std::string_view take_word(std::string_view& line) noexcept {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    line.remove_prefix(word.size());
    return word;
}

/// What X-Tenant-Id or X-Caller-Id says; none if it is absent.
tl::expected<std::optional<std::string_view>, Denied> claimed(const Headers& headers, std::string_view name) {
    const auto value = headers.find(name);
    if (!value) return std::nullopt;
    if (headers.count(name) > 1) {
        return tl::unexpected(Denied{Denial::malformed, std::string(name) + " must be given once"});
    }
    if (!is_principal_name(*value)) {
        return tl::unexpected(
            Denied{Denial::malformed, std::string(name) + " must be 1 to " + std::to_string(principal_size_max) +
                                          " letters, digits, dots, hyphens, underscores, colons or at signs"});
    }
    return value;
}

tl::unexpected<Denied> unauthenticated(std::string detail) {
    return tl::unexpected(Denied{Denial::unauthenticated, std::move(detail)});
}

/// Whose token the Authorization field holds.
tl::expected<const Principal*, Denied> by_token(const TokenTable& tokens, const Headers& headers) {
    constexpr std::string_view scheme = "bearer ";
    const auto value = headers.find("Authorization");
    if (!value) return unauthenticated("Send `Authorization: Bearer <token>`.");
    if (headers.count("Authorization") > 1) return unauthenticated("Send one Authorization field.");
    if (value->size() <= scheme.size() || !same_name(value->substr(0, scheme.size()), scheme)) {
        return unauthenticated("The Authorization scheme is Bearer.");
    }
    std::string_view token = value->substr(scheme.size());
    token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
    const Principal* who = tokens.find(token);
    if (who == nullptr) return unauthenticated("The token is not valid.");
    return who;
}

}  // namespace

bool is_principal_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= principal_size_max && std::ranges::all_of(name, is_name_character);
}

std::size_t TokenTable::First::operator()(const Digest& digest) const noexcept {
    std::size_t first = 0;
    std::memcpy(&first, digest.data(), sizeof first);
    return first;
}

Status TokenTable::add(std::string_view hash, Principal who) {
    const Digest digest = SEMEL_TRY(parse_digest(hash));
    if (!is_principal_name(who.tenant)) return fail(Fault::rejected, "a token's tenant is not a valid name");
    if (!is_principal_name(who.caller)) return fail(Fault::rejected, "a token's caller is not a valid name");
    if (!principals_.emplace(digest, std::move(who)).second) {
        return fail(Fault::rejected, "the hash of a token stands there twice");
    }
    return {};
}

Result<TokenTable> TokenTable::parse(std::string_view text) {
    TokenTable table;
    for (std::size_t number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::string_view hash = take_word(line);
        if (hash.empty() || hash.starts_with('#')) continue;
        const std::string_view tenant = take_word(line);
        const std::string_view caller = take_word(line);
        Status added = take_word(line).empty()
                           ? table.add(hash, {std::string(tenant), std::string(caller)})
                           : Status(fail(Fault::rejected, "a token is written as <hash> <tenant> <caller>"));
        if (!added) return fail(std::move(added).error().within("line " + std::to_string(number)));
    }
    return table;
}

const Principal* TokenTable::find(std::string_view token) const {
    const auto found = principals_.find(sha256(bytes_of(token)));
    return found == principals_.end() ? nullptr : &found->second;
}

tl::expected<Principal, Denied> authenticate(const TokenTable& tokens, const Headers& headers) {
    const Principal* owner = nullptr;
    if (!tokens.empty()) {
        const auto found = by_token(tokens, headers);
        if (!found) return tl::unexpected(found.error());
        owner = *found;
    }
    const auto tenant = claimed(headers, tenant_header);
    if (!tenant) return tl::unexpected(tenant.error());
    const auto caller = claimed(headers, caller_header);
    if (!caller) return tl::unexpected(caller.error());
    if (owner == nullptr) {
        return Principal{std::string(tenant->value_or("public")), std::string(caller->value_or("anonymous"))};
    }
    if (tenant->value_or(owner->tenant) != owner->tenant || caller->value_or(owner->caller) != owner->caller) {
        return tl::unexpected(Denied{Denial::forbidden, "The token does not speak for that tenant and caller."});
    }
    return *owner;
}

}  // namespace semel::http
