#pragma once

#include "semel/command/executor.hpp"
#include "semel/sqlite/open.hpp"
#include "semel/testing/losing_disk_platter.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace semel::crash {

/// What is found of one payment.
struct Traces {
    int records = 0;
    int effects = 0;
    int events = 0;
    int pending = 0;
    bool operator==(const Traces&) const = default;
};

/// A program that keeps payments in one SQLite file: each is one row, one event and one record. Everything in it is
/// what a user of the library would write.
class Payments {
public:
    static constexpr int count = 12;      ///< They have the numbers from 1 on; 0 is one that is refused for good.
    static constexpr int schema = 2;      ///< Steps of the program's own.
    static constexpr int every_log = 12;  ///< Pages of log, so that it is moved to the file every other payment.

    /// Opens the file. The clock and the source of chance must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Payments>> open(const std::string& path, Clock& clock, Random& random);

    /// Brings Semel's own schema to its last step and the program's to `step`.
    [[nodiscard]] Status migrate_to(int step);
    /// Thread-safe.
    [[nodiscard]] Outcome<Answer> pay(int number);
    [[nodiscard]] static std::string reply_to(int number);

    [[nodiscard]] Result<std::map<int, Traces>> traces();
    /// An Error unless the file is sound.
    [[nodiscard]] Status check_file();
    /// An Error unless each step of the schema was taken whole.
    [[nodiscard]] Status check_schema();
    [[nodiscard]] Status health() const { return store_->health(); }
    [[nodiscard]] sqlite::StoreStats stats() const { return store_->stats(); }

private:
    Payments() = default;

    std::shared_ptr<sqlite::Store> store_;
    std::unique_ptr<Database> database_;
    std::unique_ptr<Executor> executor_;
    int step_ = 0;
};

/// What a finished payment leaves.
[[nodiscard]] Traces complete(int number);

/// Starts the program on what a power cut left in a directory of its own, as after any restart. An Error unless the file
/// is sound, each acknowledged payment is there, each other one is whole or absent, and after all of them were asked for
/// once more each is there once, with the reply it always had.
[[nodiscard]] Status recover(const testing::DiskImage& image, const std::set<int>& acknowledged,
                             const std::filesystem::path& directory);

}  // namespace semel::crash
