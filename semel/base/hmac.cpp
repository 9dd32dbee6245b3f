#include "semel/base/hmac.hpp"

#include <openssl/crypto.h>

#include <algorithm>

namespace semel {

Digest hmac_sha256(BytesView key, BytesView data) {
    constexpr std::size_t block_size = 64;
    std::array<std::byte, block_size> inner{};
    if (key.size() > block_size) {
        std::ranges::copy(sha256(key), inner.begin());
    } else {
        std::ranges::copy(key, inner.begin());
    }
    std::array<std::byte, block_size> outer = inner;
    for (std::byte& byte : inner) byte ^= std::byte{0x36};
    for (std::byte& byte : outer) byte ^= std::byte{0x5c};
    Sha256 first;
    first.add(inner).add(data);
    Sha256 second;
    second.add(outer).add(std::move(first).finish());
    OPENSSL_cleanse(inner.data(), inner.size());
    OPENSSL_cleanse(outer.data(), outer.size());
    return std::move(second).finish();
}

bool equal_in_constant_time(BytesView a, BytesView b) noexcept {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace semel
