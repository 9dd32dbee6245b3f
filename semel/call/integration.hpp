#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/retry/deadline.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// No limit of a call, a lease or a delay is longer: whatever lasts that long is a mistake, and sums of a few of them
/// are far from the end of a Duration.
inline constexpr Duration limit_max = std::chrono::days(30);

/// What can be done about a call to the other side whose outcome is not known.
enum class Capability : std::uint8_t {
    takes_key,  ///< It takes an idempotency key: the same call again is the same effect.
    queryable,  ///< It can be asked by business key. Found is an answer; not found is none: the call may still be
                ///< on its way, or not be visible yet.
    neither,    ///< Only a person can find out.
};
[[nodiscard]] std::string_view name(Capability) noexcept;
[[nodiscard]] Result<Capability> parse_capability(std::string_view text);

/// One call as the other side sees it.
struct CallRequest {
    std::string operation;
    std::string business_key;
    /// The same for every attempt of this call, whoever makes it: the other side's idempotency key.
    std::string external_request_id;
    std::string body;
    std::int64_t attempt = 1;
};

/// What to ask the other side about.
struct CallQuestion {
    std::string operation;
    std::string business_key;
    std::string external_request_id;
};

struct CallResponse {
    int status = 200;
    std::string body{};
    friend bool operator==(const CallResponse&, const CallResponse&) = default;
};

/// Another system, as far as Semel must know it. Called from many threads.
struct Integration {
    std::string name;
    Capability capability = Capability::neither;

    /// Does it, before the deadline: past it nothing may be sent any more. An Error tells what is known:
    /// `rejected`: it was not done and never will be; `unavailable`, `throttled`, `conflict`: it was not done and may
    /// be tried later; anything else, and an exception, that it may have been done.
    ///
    /// Of a repeat whose first attempt may have been done, no Error is believed, not even `rejected`: it may have been
    /// refused before the key was looked at. One that knows that the other side answered by the key, with what became
    /// of the first, returns it as a response, a refusal too.
    std::function<Result<CallResponse>(const CallRequest&, Deadline)> perform{};

    /// Of a queryable one: what became of a call; none if it knows of none. Changes nothing.
    std::function<Result<std::optional<CallResponse>>(const CallQuestion&, Deadline)> query{};

    /// A call starts within this after its intent was stored, or not at all. More than zero, at most `limit_max`.
    Duration start_within = std::chrono::seconds(5);
    /// It takes no longer than this, at most `limit_max`. Whoever takes over waits for the sum of both, and a grace,
    /// before it asks.
    Duration duration_max = std::chrono::seconds(30);

    /// When a call is over at the latest, from its intent on. Limits that no call accepts count as the nearest that
    /// one does.
    [[nodiscard]] Duration over_within() const noexcept {
        return std::clamp(start_within, Duration::zero(), limit_max) +
               std::clamp(duration_max, Duration::zero(), limit_max);
    }
};

}  // namespace semel
