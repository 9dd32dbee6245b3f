#include "semel/webhook/address.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace semel::webhook {
namespace {

using V4 = std::array<std::uint8_t, 4>;
using V6 = std::array<std::uint8_t, 16>;

template <class Address>
struct Block {
    Address first;
    unsigned bits;
    std::string_view why;
};

// The special-purpose registries (RFC 6890 and its updates), and the one metadata service outside of them.
constexpr auto blocks_v4 = std::to_array<Block<V4>>({
    {{0, 0, 0, 0}, 8, "this very host (0.0.0.0/8)"},
    {{10, 0, 0, 0}, 8, "a private network"},
    {{100, 64, 0, 0}, 10, "a carrier's inner network"},
    {{127, 0, 0, 0}, 8, "loopback"},
    {{168, 63, 129, 16}, 32, "a cloud's metadata service"},
    {{169, 254, 0, 0}, 16, "link-local, where clouds keep their metadata service"},
    {{172, 16, 0, 0}, 12, "a private network"},
    {{192, 0, 0, 0}, 24, "reserved for protocols"},
    {{192, 0, 2, 0}, 24, "for documentation only"},
    {{192, 88, 99, 0}, 24, "an old relay of 6to4"},
    {{192, 168, 0, 0}, 16, "a private network"},
    {{198, 18, 0, 0}, 15, "for benchmarks only"},
    {{198, 51, 100, 0}, 24, "for documentation only"},
    {{203, 0, 113, 0}, 24, "for documentation only"},
    {{224, 0, 0, 0}, 4, "multicast"},
    {{240, 0, 0, 0}, 4, "reserved or broadcast"},
});

constexpr auto blocks_v6 = std::to_array<Block<V6>>({
    {{0xfe, 0x80}, 10, "link-local"},
    {{0xfe, 0xc0}, 10, "a private network (site-local)"},
    {{0xfc}, 7, "a private network (unique local)"},
    {{0xff}, 8, "multicast"},
    {{0x20, 0x01, 0x00}, 23, "reserved for protocols"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "for documentation only"},
    {{0x3f, 0xff}, 20, "for documentation only"},
});

// Blocks whose addresses hold an IPv4 address, and where in them.
struct Carrier {
    V6 first;
    unsigned bits;
    std::size_t at;
};
constexpr auto carriers = std::to_array<Carrier>({
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12},  // IPv4-mapped
    {{0, 0x64, 0xff, 0x9b}, 96, 12},                       // NAT64
    {{0x20, 0x02}, 16, 2},                                 // 6to4
});

template <class Address>
constexpr bool within(const Address& address, const Address& first, unsigned bits) noexcept {
    for (std::size_t i = 0; bits > 0; ++i, bits -= std::min(bits, 8U)) {
        const unsigned mask = bits >= 8 ? 0xffU : 0xffU << (8 - bits) & 0xffU;
        if ((address.at(i) & mask) != (first.at(i) & mask)) return false;
    }
    return true;
}

std::string_view why_not_public(const V4& address) noexcept {
    for (const auto& block : blocks_v4)
        if (within(address, block.first, block.bits)) return block.why;
    return {};
}

std::string_view why_not_public(const V6& address) noexcept {
    for (const auto& carrier : carriers) {
        if (!within(address, carrier.first, carrier.bits)) continue;
        V4 inner{};
        std::copy_n(address.begin() + static_cast<std::ptrdiff_t>(carrier.at), inner.size(), inner.begin());
        return why_not_public(inner);
    }
    for (const auto& block : blocks_v6)
        if (within(address, block.first, block.bits)) return block.why;
    if (address == V6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) return "loopback";
    // Everything that is given out to the public lies here; what does not is not for us to guess at.
    if (!within(address, V6{0x20}, 3)) return "not a public address";
    return {};
}

template <class Address>
Address copy(BytesView bytes) noexcept {
    Address address{};
    std::ranges::transform(bytes, address.begin(), [](std::byte one) { return std::to_integer<std::uint8_t>(one); });
    return address;
}

}  // namespace

std::string_view why_not_public(BytesView address) noexcept {
    if (address.size() == V4{}.size()) return why_not_public(copy<V4>(address));
    if (address.size() == V6{}.size()) return why_not_public(copy<V6>(address));
    return "neither IPv4 nor IPv6";
}

}  // namespace semel::webhook
