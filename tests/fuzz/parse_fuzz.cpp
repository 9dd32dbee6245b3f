// Whatever text comes in, reading it neither breaks anything nor loses anything: a value that was read is written
// and read back as the same value.
#include "semel/base/decimal.hpp"
#include "semel/base/id.hpp"
#include "semel/db/value.hpp"
#include "semel/retry/owner.hpp"
#include "semel/retry/retry_after.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);

    if (const auto number = semel::Decimal::parse(text)) {
        const auto again = semel::Decimal::parse(number->text());
        SEMEL_ASSERT(again && *again == *number && again->scale() == number->scale());
    }
    if (const auto id = semel::Uuid::parse(text)) {
        const auto again = semel::Uuid::parse(id->text());
        SEMEL_ASSERT(again && *again == *id);
    }
    if (const auto time = semel::parse_timestamp(text)) {
        const auto again = semel::parse_timestamp(semel::timestamp_text(*time));
        SEMEL_ASSERT(again && *again == *time);
    }
    if (const auto delay = semel::parse_retry_after(text, semel::Timestamp()))
        SEMEL_ASSERT(*delay >= semel::Duration::zero());
    if (const auto remaining = semel::parse_remaining(text)) SEMEL_ASSERT(*remaining >= semel::Duration::zero());
    static_cast<void>(semel::parse_attempt(text));
    static_cast<void>(semel::parse_owner(text));
    return 0;
}
