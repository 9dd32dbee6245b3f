#include "semel/cdc/snapshot.hpp"

#include <algorithm>
#include <charconv>

namespace semel::cdc {

Result<std::uint64_t> parse_transaction(std::string_view text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc() || stopped != end)
        return fail(Fault::broken, "the number of a transaction cannot be read");
    return value;
}

Result<Snapshot> Snapshot::parse(std::string_view text) {
    const std::size_t first = text.find(':');
    const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
    if (second == std::string_view::npos) return fail(Fault::broken, "a snapshot cannot be read");
    Snapshot snapshot;
    snapshot.end_ = SEMEL_TRY(parse_transaction(text.substr(first + 1, second - first - 1)));
    for (std::string_view rest = text.substr(second + 1); !rest.empty();) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        snapshot.running_.push_back(SEMEL_TRY(parse_transaction(rest.substr(0, comma))));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    std::ranges::sort(snapshot.running_);
    return snapshot;
}

bool Snapshot::ended(std::uint64_t transaction) const noexcept {
    return transaction < end_ && !std::ranges::binary_search(running_, transaction);
}

}  // namespace semel::cdc
