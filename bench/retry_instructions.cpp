// Runs guarded first tries, as many as the command line says, for a tool that counts instructions:
// the difference between two runs divided by the difference of their numbers is the cost of one.

#include "bench/retry_subject.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

int main(int argc, char** argv) {
    std::uint64_t count = 0;
    const char* end = argc == 2 ? argv[1] + std::strlen(argv[1]) : nullptr;
    if (end == nullptr || std::from_chars(argv[1], end, count).ptr != end) {
        std::fprintf(stderr, "usage: %s COUNT\n", argv[0]);
        return 2;
    }
    semel::bench::RetrySubject subject;
    semel::bench::RetrySubject* hidden = &subject;
    asm volatile("" : "+r"(hidden) : : "memory");
    std::uint64_t sum = 0;
    for (std::uint64_t n = 0; n < count; ++n) {
        const auto result = semel::bench::first_try(*hidden, hidden->guarded, n);
        if (!result) return 1;
        sum += *result;
        asm volatile("" : "+r"(sum) : : "memory");
    }
    return sum == count * (count - (count > 0 ? 1 : 0)) / 2 ? 0 : 1;
}
