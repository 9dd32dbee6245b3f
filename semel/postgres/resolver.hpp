#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/deadline.hpp"

#include <functional>
#include <string>
#include <vector>

namespace semel::postgres {

/// Looks a name up and blocks as long as it likes; returns getaddrinfo's code.
using Lookup = std::function<int(const std::string& name, std::vector<std::string>& addresses)>;

/// getaddrinfo of this machine.
[[nodiscard]] Lookup system_lookup();

/// The addresses of a name, in the order to try them. The lookup runs in the background, so a
/// name server that does not answer costs no more than the time given: Timeout::dns. An unknown
/// name and a failing name server are `unavailable`: both may be right in a minute.
[[nodiscard]] Result<std::vector<std::string>> resolve_name(const std::string& name, Deadline deadline, Clock& clock,
                                                            const Lookup& lookup = system_lookup());

}  // namespace semel::postgres
