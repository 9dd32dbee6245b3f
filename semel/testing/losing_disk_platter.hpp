#pragma once

#include "semel/base/random.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace semel::testing {

/// One thing that was done to the files of a directory.
struct DiskOperation {
    enum class Kind : std::uint8_t {
        create,
        remove,
        write,
        truncate,
        sync,            ///< What was written to the file is durable.
        sync_in_vain,    ///< A sync that failed: what was written is still read, and never becomes durable.
        sync_directory,  ///< What was created and removed is durable.
    };
    Kind kind = Kind::write;
    std::size_t file = 0;  ///< Never used again: a file that is made anew has a number of its own.
    std::string name{};    ///< Of what is created or removed.
    std::uint64_t at = 0;  ///< Where a write begins; how much a truncation leaves.
    std::string bytes{};
};

/// The files of a directory, by name.
using DiskImage = std::map<std::string, std::string>;

/// What is on a disk behind a write cache, after all that was done to it so far. Pure: time and failure come in as
/// operations. As POSIX has it, a file is durable by a sync of its own, its name by a sync of the directory.
class Platter {
public:
    /// What a disk writes whole or not at all.
    static constexpr std::uint64_t sector = 512;

    void apply(const DiskOperation& operation);

    /// What is left when the power is cut now and nothing had left the cache by itself.
    [[nodiscard]] DiskImage durable() const;
    /// What is left when some of the cache had: each sector that was not synced holds what it held after some of its
    /// writes, and of the names that were not synced the first ones changed.
    [[nodiscard]] DiskImage torn(Random& random) const;

private:
    struct File {
        std::string synced;
        std::vector<DiskOperation> unsynced;
    };
    [[nodiscard]] static std::string torn(const File& file, Random& random);

    std::map<std::size_t, File> files_;
    std::map<std::string, std::size_t> names_;
    std::vector<DiskOperation> unsynced_names_;
};

}  // namespace semel::testing
