#pragma once

#include "semel/base/outcome.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace semel::bench {

/// What the command line of a comparing benchmark says.
struct Settings {
    int rounds = 5;
    double seconds = 4;  ///< Of each side in each round.
    std::string json;    ///< Where the result goes; empty: only to the terminal.
    [[nodiscard]] Duration time() const;
};

/// Reads the command line. Ends the program on `--help` and on a mistake in it.
[[nodiscard]] Settings read_settings(int argc, char** argv, const std::string& what);

/// One measurement of one side.
struct Sample {
    std::uint64_t transactions = 0;
    double seconds = 0;
    /// Counts and costs per transaction, by name; a busy machine blurs them less than a rate.
    std::map<std::string, double> each;
    [[nodiscard]] double rate() const { return static_cast<double>(transactions) / seconds; }
};

/// Calls `work(thread, n)` over and over from so many threads, all starting together, until the
/// time is up. Counts allocations and the processor time of this process. Stops at the first
/// outcome that is not committed, which is an Error.
[[nodiscard]] Result<Sample> run_threads(std::size_t threads, Duration time,
                                         const std::function<Outcome<>(std::size_t thread, std::uint64_t n)>& work);

/// Something that can be measured again and again.
struct Side {
    std::string name;
    std::function<Result<Sample>(Duration)> measure;
};

/// All samples of one side, in the order of the rounds.
struct Series {
    std::string name;
    std::vector<Sample> samples;
    [[nodiscard]] double rate() const;                         ///< The median.
    [[nodiscard]] double each(const std::string& what) const;  ///< The median; 0 if it was not counted.
    [[nodiscard]] nlohmann::json json() const;
};

/// Measures every side once per round, after one short round that is thrown away. Neighbours in
/// time see the same disk and the same other load, and every other round goes backwards, so that a
/// drift favours nobody.
[[nodiscard]] Result<std::vector<Series>> run_rounds(const std::vector<Side>& sides, const Settings& settings);

/// How much faster `first` was than `second`, round by round.
[[nodiscard]] std::vector<double> ratios(const Series& first, const Series& second);
[[nodiscard]] double median(std::vector<double> values);

/// Prints the series as a table of rates and of the named counts.
void print(const std::vector<Series>& all, const std::vector<std::string>& columns);
/// One comparison for the result: the median ratio, its spread, and where it comes from. Prints it too.
[[nodiscard]] nlohmann::json compared(const std::string& name, const Series& first, const Series& second);

/// Writes the result where the command line says; false, having said why, if it cannot.
[[nodiscard]] bool write(const Settings& settings, const nlohmann::json& result);

/// Whether files below `path` live in memory, so that forcing them to disk costs nothing.
[[nodiscard]] bool lives_in_memory(const std::string& path);

/// Processor time in seconds: of this process, or of the children it has waited for.
[[nodiscard]] double own_processor_seconds();
[[nodiscard]] double children_processor_seconds();

}  // namespace semel::bench
