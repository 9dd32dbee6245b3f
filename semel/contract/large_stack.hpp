#pragma once

#include <functional>

namespace semel {

/// Does `work` on a stack of 256 MiB, whatever the caller's is, and waits for it. False: there is no thread for it, and
/// nothing was done. `work` must not throw.
[[nodiscard]] bool on_large_stack(const std::function<void()>& work);

}  // namespace semel
