// Every step that the program takes on its disk fails in turn, and the disk is full from every step on. Whoever asked is
// told the truth, and in the end each payment is there once.

#include "semel/testing/losing_disk.hpp"
#include "semel/testing/manual_clock.hpp"
#include "tests/crash/payments.hpp"
#include "tests/crash/power_cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace semel::crash {
namespace {

using testing::DiskFailure;
using testing::DiskOperation;
using testing::LosingDisk;

/// Asks for payments until each is acknowledged, on a disk that fails. Starts anew where the program says that only
/// this helps.
class Persistent {
public:
    static constexpr int last = 5;  ///< Of its payments: the fewer, the sooner each of their steps has failed.

    /// What a program does when it was told that it must restart.
    enum class Exits : std::uint8_t { at_once, after_closing_its_files };

    Persistent(LosingDisk& disk, Exits exits) : disk_(&disk), exits_(exits) {}

    /// Some payments, a restart, a change of the schema, some more.
    Status run() {
        SEMEL_TRY(pay_all(1, 0, last / 2));
        payments_.reset();
        SEMEL_TRY(pay_all(Payments::schema, last / 2 + 1, last));
        if (!payments_->health()) SEMEL_TRY(failed());
        while (!SEMEL_TRY(ready(Payments::schema))) {}
        const auto found = SEMEL_TRY(payments_->traces());
        for (int number = 0; number <= last; ++number)
            if (found.at(number) != complete(number)) return wrong(number, "has not one effect in the end");
        return payments_->check_file();
    }

    [[nodiscard]] Recording recording() const {
        return {.operations = disk_->operations(), .acknowledged = acknowledged_};
    }
    /// How often anyone was told of a failure.
    [[nodiscard]] int failures() const noexcept { return failures_; }
    [[nodiscard]] int stops() const noexcept { return stops_; }

private:
    Status pay_all(int step, int from, int to) {
        for (int number = from; number <= to;) {
            if (!SEMEL_TRY(ready(step))) continue;
            SEMEL_TRY(check_refused());
            const auto outcome = payments_->pay(number);
            if (outcome.committed()) {
                acknowledged_[number++] = disk_->now();
                continue;
            }
            if (outcome.unknown()) unknown_.insert(number);
            if (outcome.not_committed() && !unknown_.contains(number)) refused_ = number;
            SEMEL_TRY(failed());
        }
        return {};
    }

    /// True: it is open and its schema is as it should be.
    Result<bool> ready(int step) {
        if (!payments_) {
            step_ = 0;
            auto opened = Payments::open(disk_->uri("store.db"), clock_, random_);
            if (opened) payments_ = *std::move(opened);
        }
        if (payments_ && step_ < step && payments_->migrate_to(step)) step_ = step;
        if (step_ >= step) return true;
        SEMEL_TRY(failed());
        return false;
    }

    /// Someone was told. The disk is well again; the program goes on unless it has stopped.
    Status failed() {
        if (++failures_ > 20) return fail(Fault::broken, "it fails again and again");
        disk_->fail({});
        if (payments_ && payments_->health()) return {};
        if (payments_) ++stops_;
        disk_->freeze(exits_ == Exits::at_once);
        payments_.reset();
        disk_->freeze(false);
        return {};
    }

    /// Whoever was told that nothing happened was told the truth.
    Status check_refused() {
        if (!refused_) return {};
        const int number = *std::exchange(refused_, std::nullopt);
        const auto found = SEMEL_TRY(payments_->traces());
        return found.at(number) == Traces{} ? Status() : wrong(number, "was told not to be there and is");
    }

    static Status wrong(int number, const std::string& what) {
        return fail(Fault::broken, "payment " + std::to_string(number) + " " + what);
    }

    LosingDisk* disk_;
    Exits exits_;
    testing::ManualClock clock_;
    SeededRandom random_{7};
    std::unique_ptr<Payments> payments_;
    std::map<int, std::size_t> acknowledged_;
    std::set<int> unknown_;
    std::optional<int> refused_;
    int step_ = 0;
    int failures_ = 0;
    int stops_ = 0;
};

class DiskFailureTest : public ::testing::Test {
protected:
    struct Seen {
        Recording recording;
        std::size_t steps = 0;
        int failures = 0;
        int stops = 0;
    };

    /// One run of the program on a disk of its own.
    Seen run(const DiskFailure& failure, Persistent::Exits exits = Persistent::Exits::at_once) {
        const std::filesystem::path directory = directory_.path() / "disk";
        std::filesystem::remove_all(directory);
        std::filesystem::create_directory(directory);
        LosingDisk disk(directory);
        disk.fail(failure);
        Persistent program(disk, exits);
        const Status done = program.run();
        EXPECT_TRUE(done) << "step " << failure.first << ": " << done.error().describe();
        return {.recording = program.recording(),
                .steps = disk.steps(),
                .failures = program.failures(),
                .stops = program.stops()};
    }

    /// Cuts the power from the given operation on.
    void cut_from(std::size_t first, const Recording& recording, std::size_t step) {
        const CutTally tally = cut_power(recording, {.first = first}, directory_.path() / "recovered");
        EXPECT_EQ(tally.troubles, 0U) << "step " << step << ": " << tally.first_trouble;
    }

    void fail_every_step(std::size_t count, DiskFailure::Why why) {
        const Seen unharmed = run({});
        ASSERT_EQ(unharmed.failures, 0);
        ASSERT_GT(unharmed.steps, 100U);
        int told = 0;
        int stopped = 0;
        for (std::size_t step = 1; step <= unharmed.steps && !HasFailure(); ++step) {
            const Seen seen = run({.first = step, .count = count, .why = why});
            cut_from(seen.recording.operations.size(), seen.recording, step);
            told += seen.failures > 0 ? 1 : 0;
            stopped += seen.stops;
        }
        EXPECT_GT(told, 0);
        std::printf("disk failure: %zu steps, %d told of, %d stops\n", unharmed.steps, told, stopped);
    }

    testing::TempDir directory_ = make_scratch("disk-failure");
};

constexpr std::size_t until_someone_is_told = 1'000'000;

TEST_F(DiskFailureTest, OfAnyStepIsToldAsItIsAndARepeatEndsWithOneEffect) {
    fail_every_step(1, DiskFailure::Why::broken);
    if (std::getenv("SEMEL_SOAK") != nullptr) fail_every_step(until_someone_is_told, DiskFailure::Why::broken);
}

TEST_F(DiskFailureTest, ForWantOfRoomIsToldAsItIsAndARepeatEndsWithOneEffect) {
    fail_every_step(until_someone_is_told, DiskFailure::Why::full);
}

TEST_F(DiskFailureTest, OfASyncLosesNothingThatIsAcknowledgedLaterWhenThePowerIsCut) {
    const Seen unharmed = run({});
    std::size_t step = 0;
    int syncs = 0;
    for (const DiskOperation& operation : unharmed.recording.operations) {
        using Kind = DiskOperation::Kind;
        if (operation.kind == Kind::sync_directory) continue;  // Part of another step.
        ++step;
        if (operation.kind != Kind::sync) continue;
        ++syncs;
        for (const auto exits : {Persistent::Exits::at_once, Persistent::Exits::after_closing_its_files}) {
            const Recording recording = run({.first = step}, exits).recording;
            ASSERT_EQ(recording.count(Kind::sync_in_vain), 1U);
            const auto in_vain = std::ranges::find(recording.operations, Kind::sync_in_vain, &DiskOperation::kind);
            cut_from(static_cast<std::size_t>(in_vain - recording.operations.begin()), recording, step);
        }
    }
    EXPECT_GT(syncs, Persistent::last);
}

}  // namespace
}  // namespace semel::crash
