#pragma once

#include "semel/base/assert.hpp"
#include "semel/base/time.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace semel {

/// What the caller can do about a failure. The only part of an Error that code branches on.
enum class Fault : std::uint8_t {
    rejected,     ///< The same input will fail again. Report it.
    conflict,     ///< Lost a race; nothing was written. Rerun the transaction.
    unavailable,  ///< The other side is away; nothing was done. Try again later.
    throttled,    ///< The other side asks for less. Wait at least as long as it says.
    unknown,      ///< It may or may not have happened. Look before trying again.
    broken,       ///< A bug or damaged data. Stop.
};

/// Which limit ran out. Each has its own name in errors, metrics and logs.
enum class Timeout : std::uint8_t {
    none,
    queue,        ///< Waited too long for a turn before the work began.
    dns,          ///< The name was not resolved in time.
    connect,      ///< No connection in time.
    tls,          ///< No TLS handshake in time.
    write,        ///< The request could not be sent in time.
    read,         ///< The answer did not come in time.
    request,      ///< One whole request took too long.
    transaction,  ///< One whole transaction took too long.
    lock,         ///< A lock was not granted in time.
    statement,    ///< One statement took too long and was cancelled.
    executor,     ///< A worker was not found, or ran too long.
    pool,         ///< No session of the pool became free in time.
    total,        ///< The deadline of the whole operation passed.
};

/// Why no further attempt was made.
enum class Stop : std::uint8_t {
    none,            ///< Retrying did not stop; or there was nothing to retry.
    not_retryable,   ///< The failure would only repeat itself.
    not_repeatable,  ///< The outcome is unknown and repeating might do it twice.
    attempts,        ///< The policy's attempts are used up.
    elapsed,         ///< The policy's elapsed time is used up.
    budget,          ///< The retry budget of this dependency is used up.
    breaker,         ///< The circuit breaker is open.
    deadline,        ///< The delay and another attempt would not fit before the deadline.
    stopped,         ///< The caller asked to stop.
    not_owner,       ///< A layer further out owns the retries of this call chain.
};

[[nodiscard]] std::string_view name(Fault) noexcept;
[[nodiscard]] std::string_view name(Timeout) noexcept;
[[nodiscard]] std::string_view name(Stop) noexcept;

/// Typed detail of a failure, for reports and for mapping; empty where it does not apply.
struct Cause {
    std::string code;                     ///< Native code: SQLSTATE, SQLite result code, HTTP status.
    std::string constraint;               ///< Name of the violated constraint.
    Timeout timeout = Timeout::none;      ///< Which limit ran out.
    std::optional<Duration> retry_after;  ///< How long the other side asked us to wait.
    Stop stop = Stop::none;               ///< Why retrying stopped.
    std::uint32_t attempts = 0;           ///< How many attempts were made.
    std::string hint;                     ///< What a person can do about it.
};

struct Error {
    Fault fault = Fault::broken;
    std::string message;  ///< Ours: safe to show, outermost context first.
    std::string native;   ///< Theirs: server text. May hold user data; never shown to clients.
    Cause cause;

    /// The same failure seen from further out: "claim key: begin: refused".
    [[nodiscard]] Error within(std::string_view what) &&;

    /// For people who operate it: message, native text, code and hint in one line.
    [[nodiscard]] std::string describe() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// Makes the unhappy side of a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
[[nodiscard]] inline tl::unexpected<Error> fail(Fault fault, std::string message) {
    Error error;
    error.fault = fault;
    error.message = std::move(message);
    return tl::unexpected<Error>(std::move(error));
}

}  // namespace semel

/// The value of a Result, or an early return of its Error from the enclosing function.
#define SEMEL_TRY(...)                                                 \
    __extension__({                                                    \
        auto semel_try_result = (__VA_ARGS__);                         \
        if (!semel_try_result) [[unlikely]]                            \
            return ::semel::fail(std::move(semel_try_result).error()); \
        ::semel::detail::value_of(std::move(semel_try_result));        \
    })

namespace semel::detail {

template <class T>
T value_of(Result<T>&& result) {  // SEMEL_TRY may leave it unused.
    return *std::move(result);
}
inline void value_of(Status&&) noexcept {}

}  // namespace semel::detail
