#include "tests/crash/power_cuts.hpp"

#include "tests/crash/payments.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace semel::crash {
namespace {

std::size_t digest_of(const testing::DiskImage& image) {
    std::string all;
    for (const auto& [name, bytes] : image) all.append(name).append(std::to_string(bytes.size())).append(bytes);
    return std::hash<std::string>()(all);
}

}  // namespace

std::set<int> Recording::acknowledged_before(std::size_t count) const {
    std::set<int> numbers;
    for (const auto& [number, at] : acknowledged)
        if (at <= count) numbers.insert(number);
    return numbers;
}

std::size_t Recording::count(testing::DiskOperation::Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count(operations, kind, &testing::DiskOperation::kind));
}

CutTally cut_power(const Recording& recording, const Cuts& cuts, const std::filesystem::path& directory) {
    CutTally tally;
    std::set<std::pair<std::size_t, std::size_t>> seen;
    testing::Platter platter;
    for (std::size_t n = 0; n <= recording.operations.size(); ++n) {
        const std::set<int> acknowledged = recording.acknowledged_before(n);
        for (std::uint64_t seed = 0; seed <= cuts.seeds && n >= cuts.first; ++seed) {
            SeededRandom random(seed << 32U | n);
            const testing::DiskImage image = seed == 0 ? platter.durable() : platter.torn(random);
            ++tally.cuts;
            if (!seen.emplace(digest_of(image), acknowledged.size()).second) continue;
            ++tally.restarts;
            const Status recovered = recover(image, acknowledged, directory);
            if (recovered || tally.troubles++ != 0) continue;
            tally.first_trouble = "cut before operation " + std::to_string(n) + " of " +
                                  std::to_string(recording.operations.size()) + ", seed " + std::to_string(seed) +
                                  ": " + recovered.error().describe();
        }
        if (n < recording.operations.size()) platter.apply(recording.operations[n]);
    }
    return tally;
}

testing::TempDir make_scratch(std::string_view purpose) {
    constexpr const char* in_memory = "/dev/shm";
    if (::access(in_memory, W_OK | X_OK) == 0) ::setenv("TMPDIR", in_memory, 1);
    return testing::TempDir::make(purpose).value();
}

}  // namespace semel::crash
