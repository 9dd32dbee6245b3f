#pragma once

#include "semel/base/digest.hpp"
#include "semel/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace semel::http {

class Headers;

/// On whose behalf a request comes. Part of every command's identity.
struct Principal {
    std::string tenant;
    std::string caller;
    friend bool operator==(const Principal&, const Principal&) = default;
};

inline constexpr std::string_view tenant_header = "X-Tenant-Id";
inline constexpr std::string_view caller_header = "X-Caller-Id";
inline constexpr std::size_t principal_size_max = 64;

/// A tenant or caller: 1 to `principal_size_max` letters, digits, `.`, `_`, `-`, `:` and `@`.
[[nodiscard]] bool is_principal_name(std::string_view name) noexcept;

/// Whose bearer tokens are accepted. It holds SHA-256 hashes only: who reads the configuration cannot
/// act for anyone. Looked up by the hash, so that the time a lookup takes says nothing about a token.
class TokenTable {
public:
    /// `hash` as 64 hexadecimal digits. An Error (`rejected`) if it or the principal is malformed, or
    /// the hash is there already.
    [[nodiscard]] Status add(std::string_view hash, Principal who);
    /// Lines of `<hash> <tenant> <caller>`; empty ones and those beginning with `#` are skipped.
    [[nodiscard]] static Result<TokenTable> parse(std::string_view text);

    [[nodiscard]] const Principal* find(std::string_view token) const;
    [[nodiscard]] bool empty() const noexcept { return principals_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return principals_.size(); }

private:
    // A digest is uniform already: its first bytes are a hash.
    struct First {
        std::size_t operator()(const Digest& digest) const noexcept;
    };
    std::unordered_map<Digest, Principal, First> principals_;
};

/// Why someone is not let in; the server answers the problem of that name.
enum class Denial : unsigned char {
    malformed,        ///< 400: X-Tenant-Id or X-Caller-Id is malformed or repeated.
    unauthenticated,  ///< 401: no bearer token, or one that nobody has.
    forbidden,        ///< 403: X-Tenant-Id or X-Caller-Id names someone else than the token does.
};
struct Denied {
    Denial why;
    std::string detail;
};

/// Who sends these headers. With tokens, the token decides, and `X-Tenant-Id` and `X-Caller-Id` may
/// only repeat what it says. Without any, the two headers are believed (`public`, `anonymous` where
/// they are absent), which is why a server without tokens listens on loopback alone.
[[nodiscard]] tl::expected<Principal, Denied> authenticate(const TokenTable& tokens, const Headers& headers);

}  // namespace semel::http
