#pragma once

#include "semel/retry/phase.hpp"
#include "semel/retry/rule.hpp"

#include <span>
#include <string_view>

namespace semel {

/// What a failure of the network below a protocol means. `connect`: no byte of the request was
/// sent. `transaction`: bytes were sent inside a transaction, which the lost connection aborts.
/// `commit`: bytes were sent that take effect by themselves.
[[nodiscard]] std::span<const Rule> socket_rules() noexcept;

/// Codes of failures that have no errno.
inline constexpr std::string_view socket_end_of_file = "EOF";
inline constexpr std::string_view socket_connect_timeout = "connect timeout";
inline constexpr std::string_view socket_write_timeout = "write timeout";
inline constexpr std::string_view socket_read_timeout = "read timeout";
inline constexpr std::string_view socket_dns_timeout = "DNS timeout";
inline constexpr std::string_view socket_tls_timeout = "TLS timeout";
inline constexpr std::string_view socket_tls_certificate = "TLS certificate";

/// The code of an errno as the table writes it: "ECONNREFUSED". Never empty; "errno" for one that
/// the table does not know.
[[nodiscard]] std::string_view socket_code(int error_number) noexcept;
/// The code of what getaddrinfo returned: "EAI_AGAIN".
[[nodiscard]] std::string_view resolver_code(int eai) noexcept;

[[nodiscard]] Fault classify_socket(std::string_view code, Phase phase) noexcept;

}  // namespace semel
