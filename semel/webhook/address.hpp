#pragma once

#include "semel/base/digest.hpp"

#include <string_view>

namespace semel::webhook {

/// Why a webhook must not go to this address (4 bytes of IPv4 or 16 of IPv6, in network order): it lies inside our own
/// machine or network, or is no address of one receiver. Empty: a public one. An address that carries another in it
/// (IPv4-mapped, NAT64, 6to4) is judged by that one.
[[nodiscard]] std::string_view why_not_public(BytesView address) noexcept;

}  // namespace semel::webhook
