// Whatever bytes come in: canonical form is a fixed point, means the same to another reader, and nothing is refused
// that the other reader takes, but for the reasons by which ours is stricter.
#include "semel/base/canon.hpp"
#include "semel/base/media_type.hpp"
#include "semel/base/multipart.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

bool stricter(std::string_view reason) {
    constexpr std::array ours{"a duplicate name", "nested too deeply", "a byte order mark",
                              "a number whose exponent does not fit in 64 bits"};
    for (const std::string_view one : ours)
        if (reason.starts_with(one)) return true;
    return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto canonical = semel::canonical_json(text);
    if (canonical) {
        const auto again = semel::canonical_json(*canonical);
        SEMEL_ASSERT(again && *again == *canonical);
        // The other reader knows no number past the doubles: it then takes neither of the two.
        const auto before = nlohmann::json::parse(text, nullptr, false);
        const auto after = nlohmann::json::parse(*canonical, nullptr, false);
        SEMEL_ASSERT(before.is_discarded() == after.is_discarded());
        SEMEL_ASSERT(before.is_discarded() || before == after);
    } else {
        // To the other reader a zero byte is the end of the document.
        const bool cut = text.find('\0') != std::string_view::npos;
        SEMEL_ASSERT(cut || stricter(canonical.error().message) || !nlohmann::json::accept(text));
    }

    const auto boundary = semel::media_type_parameter(text, "boundary");
    if (const auto parts = semel::multipart_parts(text, boundary.value_or("b")))
        for (const std::string_view part : *parts)
            SEMEL_ASSERT(part.empty() ||
                         (part.data() >= text.data() && part.data() + part.size() <= text.data() + size));
    return 0;
}
