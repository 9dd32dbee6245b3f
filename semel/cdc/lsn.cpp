#include "semel/cdc/lsn.hpp"

#include <fmt/format.h>

#include <charconv>

namespace semel::cdc {
namespace {

Result<std::uint32_t> half_of_lsn(std::string_view text) {
    std::uint32_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value, 16);
    if (text.empty() || error != std::errc() || stopped != end) return fail(Fault::rejected, "not a place in the log");
    return value;
}

}  // namespace

std::string Lsn::text() const { return fmt::format("{:X}/{:X}", value >> 32U, value & 0xffffffffU); }

Result<Lsn> Lsn::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return fail(Fault::rejected, "not a place in the log");
    const std::uint64_t high = SEMEL_TRY(half_of_lsn(text.substr(0, slash)));
    const std::uint64_t low = SEMEL_TRY(half_of_lsn(text.substr(slash + 1)));
    return Lsn{high << 32U | low};
}

}  // namespace semel::cdc
