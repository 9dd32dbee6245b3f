#include "semel/base/id.hpp"

#include "semel/base/hex.hpp"

#include <algorithm>

namespace semel {
namespace {

constexpr std::string_view digits = "0123456789abcdef";
/// Text positions of the four hyphens.
constexpr bool is_hyphen(std::size_t position) noexcept {
    return position == 8 || position == 13 || position == 18 || position == 23;
}
constexpr std::size_t text_length = 36;

/// The counter's 12 bits start in their lower half, so that at least 2,048 ids of one
/// millisecond come before it must borrow from the next.
constexpr std::uint16_t counter_max = 0xfff;
constexpr std::uint16_t counter_start_mask = 0x7ff;

}  // namespace

std::string Uuid::text() const {
    std::string out(text_length, '-');
    std::size_t at = 0;
    for (const std::byte byte : bytes) {
        if (is_hyphen(at)) ++at;
        out[at++] = digits[std::to_integer<std::size_t>(byte >> 4)];
        out[at++] = digits[std::to_integer<std::size_t>(byte & std::byte{0xf})];
    }
    return out;
}

Result<Uuid> Uuid::parse(std::string_view text) {
    if (text.size() != text_length)
        return fail(Fault::rejected, "a UUID has 36 characters, like 0190163d-8694-739b-aea5-966c26f8ad91");
    Uuid id;
    std::size_t at = 0;
    for (std::byte& byte : id.bytes) {
        if (is_hyphen(at) && text[at++] != '-')
            return fail(Fault::rejected, "a UUID has hyphens after 8, 12, 16 and 20 digits");
        const int high = hex_value(text[at++]);
        const int low = hex_value(text[at++]);
        if (high < 0 || low < 0) return fail(Fault::rejected, "a UUID has only hexadecimal digits and hyphens");
        byte = static_cast<std::byte>(high * 16 + low);
    }
    return id;
}

Uuid UuidGenerator::next() noexcept {
    const auto since_epoch = clock_->wall().time_since_epoch();
    const auto now = static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, std::chrono::floor<std::chrono::milliseconds>(since_epoch).count()));
    if (now > millisecond_) {
        millisecond_ = now;
        counter_ = static_cast<std::uint16_t>(random_->next() & counter_start_mask);
    } else if (counter_ < counter_max) {
        ++counter_;
    } else {
        // The clock stood still or went back: run ahead of it rather than repeat or reorder.
        ++millisecond_;
        counter_ = static_cast<std::uint16_t>(random_->next() & counter_start_mask);
    }

    Uuid id;
    for (std::size_t i = 0; i < 6; ++i) id.bytes[i] = static_cast<std::byte>(millisecond_ >> (40 - 8 * i));
    id.bytes[6] = static_cast<std::byte>(0x70U | (counter_ >> 8U));  // version 7
    id.bytes[7] = static_cast<std::byte>(counter_ & 0xffU);
    std::uint64_t chance = random_->next();
    for (std::size_t i = 8; i < 16; ++i, chance >>= 8U) id.bytes[i] = static_cast<std::byte>(chance);
    id.bytes[8] = (id.bytes[8] & std::byte{0x3f}) | std::byte{0x80};  // RFC 9562 variant
    return id;
}

Uuid new_uuid() noexcept {
    thread_local UuidGenerator generator(system_clock(), system_random());
    return generator.next();
}

}  // namespace semel
