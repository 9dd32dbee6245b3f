#include "semel/retry/scope.hpp"

namespace semel {

Error not_started(Stop stop, const RetryScope& scope, Instant now) {
    Error error;
    error.fault = Fault::unavailable;
    error.cause.stop = stop;
    switch (stop) {
        case Stop::stopped: error.message = "not started: the caller asked to stop"; break;
        case Stop::deadline:
            error.message = "not started: too little time is left before the deadline";
            error.cause.timeout = Timeout::total;
            break;
        case Stop::breaker:
            error.message = "not started: the circuit breaker is open after repeated failures";
            error.cause.retry_after = scope.breaker->admits_in(now);
            break;
        default: error.message = "not started"; break;
    }
    return error;
}

}  // namespace semel
