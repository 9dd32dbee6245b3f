#include "semel/contract/large_stack.hpp"

#include <pthread.h>

#include <cstddef>

namespace semel {
namespace {

constexpr std::size_t stack_size = std::size_t{256} << 20U;  // Only what is touched takes memory.

void* run(void* work) {
    (*static_cast<const std::function<void()>*>(work))();
    return nullptr;
}

}  // namespace

bool on_large_stack(const std::function<void()>& work) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_t thread{};
    void* argument = const_cast<std::function<void()>*>(&work);
    const bool started = pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
                         pthread_create(&thread, &attributes, &run, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started && pthread_join(thread, nullptr) == 0;
}

}  // namespace semel
