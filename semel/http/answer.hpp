#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/message.hpp"
#include "semel/retry/deadline.hpp"

namespace semel::http {

/// What an answer means to the one who asked: a definite one is a value, whatever its status; one
/// that may change when asked again is an Error, with the status as its code and Retry-After if the
/// other side gave it.
[[nodiscard]] Result<Response> judge(Response response, Timestamp now);

/// An attempt that ended at the deadline of the whole operation ran out of that, not of its own limit.
[[nodiscard]] Error overall(Error error, Deadline deadline, Instant now);

}  // namespace semel::http
