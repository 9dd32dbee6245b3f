#include "bench/harness.hpp"

#include "bench/allocations.hpp"

#include <CLI/CLI.hpp>

#include <sys/resource.h>
#include <sys/vfs.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <latch>
#include <mutex>
#include <optional>
#include <ranges>
#include <thread>

namespace semel::bench {
namespace {

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double processor_seconds(decltype(RUSAGE_SELF) whose) {
    rusage usage{};
    ::getrusage(whose, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

double seconds_since(Instant start) { return std::chrono::duration<double>(system_clock().now() - start).count(); }

}  // namespace

Duration Settings::time() const { return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)); }

Settings read_settings(int argc, char** argv, const std::string& what) {
    Settings settings;
    CLI::App app(what);
    app.add_option("--rounds", settings.rounds, "How often every side is measured")->check(CLI::Range(1, 1000));
    app.add_option("--seconds", settings.seconds, "How long, each time")->check(CLI::Range(0.1, 3600.0));
    app.add_option("--json", settings.json, "The file that the result is written to");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error) == 0 ? 0 : 2);
    }
    return settings;
}

Result<Sample> run_threads(std::size_t threads, Duration time,
                           const std::function<Outcome<>(std::size_t, std::uint64_t)>& work) {
    std::atomic<bool> over = false;
    std::atomic<std::uint64_t> done = 0;
    std::atomic<std::uint64_t> allocated = 0;
    std::mutex mutex;
    std::optional<Error> failure;
    std::latch ready(static_cast<std::ptrdiff_t>(threads) + 1);

    const auto run = [&](std::size_t thread) {
        ready.arrive_and_wait();
        const std::uint64_t before = allocations_of_this_thread();
        std::uint64_t n = 0;
        for (; !over.load(std::memory_order_relaxed); ++n) {
            const Outcome<> outcome = work(thread, n);
            if (outcome.committed()) continue;
            const std::lock_guard guard(mutex);
            failure = outcome.error();
            over = true;
        }
        allocated += allocations_of_this_thread() - before;
        done += n;
    };

    std::vector<std::jthread> running;
    for (std::size_t thread = 0; thread < threads; ++thread) running.emplace_back(run, thread);
    const double processor = own_processor_seconds();
    ready.arrive_and_wait();
    const Instant start = system_clock().now();
    system_clock().sleep(start + time, {});
    over = true;
    running.clear();
    Sample sample{.transactions = done, .seconds = seconds_since(start), .each = {}};
    if (failure) return fail(*std::move(failure));
    if (done == 0) return fail(Fault::unavailable, "not a single transaction ended in time; measure for longer");
    const auto count = static_cast<double>(done.load());
    sample.each["allocations"] = static_cast<double>(allocated.load()) / count;
    sample.each["client_us"] = (own_processor_seconds() - processor) / count * 1e6;
    return sample;
}

double Series::rate() const {
    std::vector<double> rates;
    for (const Sample& sample : samples) rates.push_back(sample.rate());
    return median(std::move(rates));
}

double Series::each(const std::string& what) const {
    std::vector<double> values;
    for (const Sample& sample : samples)
        if (const auto found = sample.each.find(what); found != sample.each.end()) values.push_back(found->second);
    return median(std::move(values));
}

nlohmann::json Series::json() const {
    nlohmann::json result{{"name", name}, {"per_second", rate()}, {"samples", nlohmann::json::array()}};
    for (const Sample& sample : samples) {
        nlohmann::json entry{
            {"transactions", sample.transactions}, {"seconds", sample.seconds}, {"per_second", sample.rate()}};
        entry["each"] = sample.each;
        result["samples"].push_back(std::move(entry));
    }
    return result;
}

Result<std::vector<Series>> run_rounds(const std::vector<Side>& sides, const Settings& settings) {
    std::vector<Series> all;
    for (const Side& side : sides) {
        SEMEL_TRY(side.measure(std::min<Duration>(settings.time(), std::chrono::seconds(1))));
        all.push_back({.name = side.name, .samples = {}});
    }
    for (int round = 0; round < settings.rounds; ++round) {
        for (std::size_t i = 0; i < sides.size(); ++i) {
            const std::size_t turn = round % 2 == 0 ? i : sides.size() - 1 - i;
            all[turn].samples.push_back(SEMEL_TRY(sides[turn].measure(settings.time())));
        }
        std::fprintf(stderr, "round %d of %d\n", round + 1, settings.rounds);
    }
    return all;
}

std::vector<double> ratios(const Series& first, const Series& second) {
    std::vector<double> result;
    for (std::size_t i = 0; i < std::min(first.samples.size(), second.samples.size()); ++i)
        result.push_back(first.samples[i].rate() / second.samples[i].rate());
    return result;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void print(const std::vector<Series>& all, const std::vector<std::string>& columns) {
    std::printf("%-44s %10s", "median of the rounds", "per second");
    for (const std::string& column : columns) std::printf(" %12s", column.c_str());
    std::printf("\n");
    for (const Series& series : all) {
        std::printf("%-44s %10.0f", series.name.c_str(), series.rate());
        for (const std::string& column : columns) std::printf(" %12.2f", series.each(column));
        std::printf("\n");
    }
}

nlohmann::json compared(const std::string& name, const Series& first, const Series& second) {
    const std::vector<double> all = ratios(first, second);
    const auto [low, high] = std::ranges::minmax(all);
    std::printf("%-44s %10.2f  (rounds from %.2f to %.2f)\n", name.c_str(), median(all), low, high);
    return {{"name", name}, {"ratio", median(all)}, {"ratios", all}, {"of", first.name}, {"to", second.name}};
}

bool write(const Settings& settings, const nlohmann::json& result) {
    std::fflush(stdout);
    if (settings.json.empty()) return true;
    std::ofstream file(settings.json);
    file << result.dump(2) << '\n';
    file.flush();
    if (!file) std::fprintf(stderr, "cannot write %s\n", settings.json.c_str());
    return file.good();
}

bool lives_in_memory(const std::string& path) {
    constexpr auto tmpfs = 0x01021994;  // As in linux/magic.h, which clashes with sys/vfs.h on some systems.
    struct statfs found{};
    return ::statfs(path.c_str(), &found) == 0 && found.f_type == tmpfs;
}

double own_processor_seconds() { return processor_seconds(RUSAGE_SELF); }
double children_processor_seconds() { return processor_seconds(RUSAGE_CHILDREN); }

}  // namespace semel::bench
