#include "semel/base/digest.hpp"

#include "semel/base/assert.hpp"

#include <openssl/evp.h>

#include <cstdint>
#include <utility>

namespace semel {

namespace {

/// Looked up once: OpenSSL would search its providers, under a lock, for every digest.
const EVP_MD* algorithm() {
    static EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    SEMEL_ASSERT(fetched != nullptr);
    return fetched;
}

}  // namespace

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { EVP_MD_CTX_free(context); }

    /// The last one that this thread has finished with, so that a digest allocates nothing.
    static std::unique_ptr<State>& spare() {
        thread_local std::unique_ptr<State> kept;
        return kept;
    }
    static std::unique_ptr<State> take() {
        return spare() ? std::exchange(spare(), nullptr) : std::make_unique<State>();
    }
};

Sha256::Sha256() : state_(State::take()) {
    SEMEL_ASSERT(state_->context != nullptr);
    SEMEL_ASSERT(EVP_DigestInit_ex(state_->context, algorithm(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::add(BytesView data) {
    SEMEL_ASSERT(state_ != nullptr);
    SEMEL_ASSERT(EVP_DigestUpdate(state_->context, data.data(), data.size()) == 1);
    return *this;
}

Sha256& Sha256::add_part(BytesView data) {
    std::array<std::byte, 8> length{};
    for (std::size_t i = 0; i < length.size(); ++i)
        length[i] = static_cast<std::byte>(static_cast<std::uint64_t>(data.size()) >> (56 - 8 * i));
    add(length);
    return add(data);
}

Digest Sha256::finish() && {
    SEMEL_ASSERT(state_ != nullptr);
    Digest digest;
    unsigned int size = 0;
    SEMEL_ASSERT(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.data()), &size) == 1);
    SEMEL_ASSERT(size == digest.size());
    State::spare() = std::move(state_);
    return digest;
}

Digest sha256(BytesView data) {
    Sha256 hash;
    hash.add(data);
    return std::move(hash).finish();
}

std::string hex(BytesView data) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(data.size() * 2);
    for (const std::byte byte : data) {
        text.push_back(digits[std::to_integer<std::size_t>(byte >> 4)]);
        text.push_back(digits[std::to_integer<std::size_t>(byte & std::byte{0xf})]);
    }
    return text;
}

}  // namespace semel
