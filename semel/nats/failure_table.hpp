#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/rule.hpp"

#include <span>
#include <string_view>

namespace semel::nats {

/// What each error code of JetStream means. The only place that decides it. A code that is not listed is `unavailable`:
/// the server answered and stored nothing, and an event is not given up for a code that nobody has thought about.
[[nodiscard]] std::span<const Rule> jetstream_rules() noexcept;

/// An answer of JetStream with an error in it: Fault by the table, its own words in `native`.
[[nodiscard]] Error error_from(int error_code, std::string_view native);

/// What the client's library last said on this thread; may be empty.
[[nodiscard]] std::string_view last_words() noexcept;

/// A failure of the client's library (a natsStatus): nothing was sent, or nobody was there.
[[nodiscard]] Error client_error(std::string_view what, int status);

}  // namespace semel::nats
