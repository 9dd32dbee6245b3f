#pragma once

#include "semel/base/digest.hpp"
#include "semel/base/id.hpp"
#include "semel/call/integration.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// What is known about a call to the other side.
enum class CallStatus : std::uint8_t {
    intended,   ///< Its intent is durable. Whether it was made is known only to whoever makes it.
    confirmed,  ///< It was done; the response is stored.
    failed,     ///< It was not done: for good, or, with a time for the next attempt, not yet.
    unknown,    ///< It may have been done.
};
[[nodiscard]] std::string_view name(CallStatus) noexcept;
[[nodiscard]] Result<CallStatus> parse_call_status(std::string_view text);

/// What a handler asks for.
struct CallSpec {
    std::string name;          ///< Unique within the command: the journal's memory goes by it.
    std::string business_key;  ///< What the other side knows it by: an order's number, a payment's reference.
    std::string request{};
    std::string operation{};  ///< Empty: the name.
};

/// Who makes a call, and for whom.
struct CallOwner {
    Digest command{};    ///< The identity of the command.
    std::string tenant;  ///< Whose command it is.
    std::int64_t epoch = 0;
    Uuid owner{};
};

/// One row of the journal. Times are relative to the moment it was read, by the database's clock.
struct Call {
    std::string call_id;
    std::string name;
    std::string integration;
    std::string operation;
    std::string business_key;
    std::string external_request_id;
    Capability capability = Capability::neither;
    std::string request;
    CallStatus status = CallStatus::intended;
    CallResponse response;     ///< Of a confirmed one.
    std::int64_t attempt = 1;  ///< Which one is the last that was intended.
    std::int64_t asks = 0;     ///< How often the other side was asked, or asked again, in vain.
    Duration ends_in{};        ///< Until the last attempt is over for certain; negative: since.
    bool may_retry = false;    ///< Of a failed one: it may be tried again.
    std::string last_error;
    std::string error_code;
    std::int64_t epoch = 0;  ///< Of whoever intended the last attempt.
    Uuid owner{};

    /// Whether its outcome is still open.
    [[nodiscard]] bool unfinished() const noexcept {
        return status == CallStatus::intended || status == CallStatus::unknown;
    }
};

/// `call_` and 32 hexadecimal digits, derived from the command and the call's name: the same for every rerun.
[[nodiscard]] std::string call_id(const Digest& command, std::string_view name);
/// The same 16 bytes in the form of a UUID (version 8), which most systems accept as an idempotency key.
[[nodiscard]] std::string external_request_id(const Digest& command, std::string_view name);

}  // namespace semel
