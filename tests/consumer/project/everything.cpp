// A program that links the whole library and the public fakes.
#include <semel/base/id.hpp>
#include <semel/retry/deadline.hpp>
#include <semel/testing/manual_clock.hpp>

int main() {
    semel::testing::ManualClock clock;
    semel::SeededRandom random(1);
    semel::UuidGenerator ids(clock, random);
    const semel::Uuid first = ids.next();
    const bool ordered = first < ids.next();

    const auto deadline = semel::Deadline::after(clock.now(), std::chrono::seconds(1));
    clock.advance(std::chrono::seconds(2));
    return ordered && deadline.passed(clock.now()) ? 0 : 1;
}
