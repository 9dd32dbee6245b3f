#include "semel/call/call.hpp"

#include <algorithm>
#include <array>

namespace semel {
namespace {

constexpr std::array<std::string_view, 4> statuses{"intended", "confirmed", "failed", "unknown"};
constexpr std::array<std::string_view, 3> capabilities{"takes_key", "queryable", "neither"};
constexpr std::size_t id_bytes = 16;

/// The first 16 bytes of a digest that is kept apart from all others by its domain.
Uuid derived(const Digest& command, std::string_view name) {
    Sha256 sha;
    sha.add_part(bytes_of("semel.call")).add_part(command).add_part(bytes_of(name));
    const Digest digest = std::move(sha).finish();
    Uuid id;
    std::ranges::copy_n(digest.begin(), id_bytes, id.bytes.begin());
    constexpr std::byte version{0x80};  // RFC 9562, version 8: made by rules of one's own.
    constexpr std::byte variant{0x80};
    id.bytes[6] = (id.bytes[6] & std::byte{0x0f}) | version;
    id.bytes[8] = (id.bytes[8] & std::byte{0x3f}) | variant;
    return id;
}

}  // namespace

std::string_view name(CallStatus status) noexcept { return statuses.at(static_cast<std::size_t>(status)); }

Result<CallStatus> parse_call_status(std::string_view text) {
    for (std::size_t i = 0; i < statuses.size(); ++i)
        if (statuses[i] == text) return static_cast<CallStatus>(i);
    return fail(Fault::broken, "a call is in the unknown status " + std::string(text));
}

std::string_view name(Capability capability) noexcept { return capabilities.at(static_cast<std::size_t>(capability)); }

Result<Capability> parse_capability(std::string_view text) {
    for (std::size_t i = 0; i < capabilities.size(); ++i)
        if (capabilities[i] == text) return static_cast<Capability>(i);
    return fail(Fault::broken, "a call was made to an integration with the unknown capability " + std::string(text));
}

std::string call_id(const Digest& command, std::string_view name) {
    return "call_" + hex(derived(command, name).bytes);
}

std::string external_request_id(const Digest& command, std::string_view name) { return derived(command, name).text(); }

}  // namespace semel
