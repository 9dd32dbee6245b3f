#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/rule.hpp"

#include <span>
#include <string_view>

namespace semel::rabbitmq {

/// What each reply code of AMQP 0-9-1 means. The only place that decides it. A code that is not listed is `unavailable`: an
/// event is not given up for a code that nobody has thought about.
[[nodiscard]] std::span<const Rule> amqp_rules() noexcept;

/// What a server said when it gave a message back, or closed a channel or a connection: Fault by the table, its own words in
/// `native`.
[[nodiscard]] Error error_from(int reply_code, std::string_view native);

/// A failure of the client's library (an amqp_status): the connection is of no more use.
[[nodiscard]] Error client_error(std::string_view what, int status);

}  // namespace semel::rabbitmq
