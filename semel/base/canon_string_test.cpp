#include "semel/base/canon_string.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace semel::canon {
namespace {

/// Every byte at every place, among plain ones and before a second one that needs a look.
template <class Copy>
void expect_to_find_every_byte(Copy copy) {
    for (int byte = 0; byte < 256; ++byte) {
        const bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
        for (std::size_t place = 0; place < chunk; ++place) {
            for (const char after : {'a', '!', '#', '[', ']', ' ', '"', '\x01', '\xff'}) {
                std::string in(chunk, 'a');
                in[place] = static_cast<char>(byte);
                if (place + 1 < chunk) in[place + 1] = after;
                const bool stops_after = after == '"' || after == '\x01' || after == '\xff';
                const std::size_t expected = !plain ? place : stops_after && place + 1 < chunk ? place + 1 : chunk;
                std::string out(chunk, '?');
                ASSERT_EQ(copy(Cursor{in.data(), out.data()}), static_cast<int>(expected)) << byte << " at " << place;
                ASSERT_EQ(out.substr(0, expected), in.substr(0, expected));
            }
        }
    }
}

TEST(CanonicalString, FindsEveryByteThatNeedsACloserLook) { expect_to_find_every_byte(copy_chunk); }

TEST(CanonicalString, FindsItOnEveryProcessor) { expect_to_find_every_byte(copy_chunk_by_words); }

}  // namespace
}  // namespace semel::canon
