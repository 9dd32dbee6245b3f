#pragma once

#include "semel/testing/losing_disk_platter.hpp"
#include "semel/testing/temp_dir.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace semel::crash {

/// Everything that a program did to its disk, and when it had acknowledged which payment.
struct Recording {
    std::vector<testing::DiskOperation> operations;
    std::map<int, std::size_t> acknowledged;  ///< After how many operations.

    [[nodiscard]] std::set<int> acknowledged_before(std::size_t operations) const;
    [[nodiscard]] std::size_t count(testing::DiskOperation::Kind kind) const;
};

/// Where the power is cut, and what it then leaves behind.
struct Cuts {
    std::size_t first = 0;    ///< Before the first operation; then before each that follows, and after the last.
    std::uint64_t seeds = 0;  ///< Besides once with nothing unsynced left, so often with some of it.
};

struct CutTally {
    std::size_t cuts = 0;
    std::size_t restarts = 0;  ///< Cuts that leave the same behind need only one.
    std::size_t troubles = 0;
    std::string first_trouble{};
};

/// Cuts the power again and again, and starts the program on what is left, in a directory of its own.
[[nodiscard]] CutTally cut_power(const Recording& recording, const Cuts& cuts, const std::filesystem::path& directory);

/// In memory where the system has such a place: a LosingDisk knows what would be durable, and real syncs would take most
/// of a test's time.
[[nodiscard]] testing::TempDir make_scratch(std::string_view purpose);

}  // namespace semel::crash
