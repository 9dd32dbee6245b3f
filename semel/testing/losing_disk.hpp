#pragma once

#include "semel/testing/losing_disk_platter.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace semel::testing {

/// Which steps of a disk fail: so many from the `first` on, counted from 1 in the order in which they are taken. A step is
/// a creation, a removal, a write, a truncation or a sync.
struct DiskFailure {
    enum class Why : std::uint8_t {
        broken,  ///< Whatever it is: half of a write arrives, nothing of anything else.
        full,    ///< Writes and creations alone; half of a write arrives.
    };
    std::size_t first = 0;  ///< 0: none.
    std::size_t count = 1;
    Why why = Why::broken;
};

/// A disk for SQLite that remembers everything that is done to it, so that it can be told what a power cut would have
/// left behind at any moment (see Platter), and that can be made to fail. The files themselves lie in a directory, and are
/// what a process reads as long as the power is on. It is used by opening `uri(file)`, like any database; temporary files
/// and shared memory are left to the system. Thread-safe; must outlive what is opened on it.
class LosingDisk {
public:
    /// Which syncs it takes seriously. Anything but `all` is a disk that lies.
    enum class Syncs : std::uint8_t { all, none, not_of_log, not_of_database, not_of_directory };

    explicit LosingDisk(std::filesystem::path directory, Syncs syncs = Syncs::all);
    ~LosingDisk();
    LosingDisk(const LosingDisk&) = delete;
    LosingDisk& operator=(const LosingDisk&) = delete;

    /// What to open for a file of this name.
    [[nodiscard]] std::string uri(std::string_view file) const;

    /// Replaces the failure before.
    void fail(const DiskFailure& failure);
    /// While it is frozen nothing that is done has an effect, as if everyone who has files open had been killed: what is
    /// closed meanwhile leaves its files as they are.
    void freeze(bool frozen);
    /// How many steps were taken, those that failed included.
    [[nodiscard]] std::size_t steps() const;

    /// Everything that was done so far, in order, failures aside.
    [[nodiscard]] std::vector<DiskOperation> operations() const;
    /// How many operations that is.
    [[nodiscard]] std::size_t now() const;

private:
    class Shim;
    std::filesystem::path directory_;
    std::unique_ptr<Shim> shim_;
};

/// Puts the files of an image into a directory.
void write_image(const DiskImage& image, const std::filesystem::path& directory);

}  // namespace semel::testing
