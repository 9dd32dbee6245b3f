// Whatever stands in a configuration: it is read or refused with file and line.
#include "apps/orders/config.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int file = ::memfd_create("config", MFD_CLOEXEC);
    SEMEL_ASSERT(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size));
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    const auto config = orders::read_config(path);
    SEMEL_ASSERT(config || config.error().message.find(path) != std::string::npos);
    ::close(file);
    return 0;
}
