#include "semel/base/result.hpp"

namespace semel {

std::string_view name(Fault fault) noexcept {
    switch (fault) {
        case Fault::rejected: return "rejected";
        case Fault::conflict: return "conflict";
        case Fault::unavailable: return "unavailable";
        case Fault::throttled: return "throttled";
        case Fault::unknown: return "unknown";
        case Fault::broken: return "broken";
    }
    SEMEL_ASSERT(false && "a Fault outside its enumeration");
}

std::string_view name(Timeout timeout) noexcept {
    switch (timeout) {
        case Timeout::none: return "none";
        case Timeout::queue: return "queue";
        case Timeout::dns: return "dns";
        case Timeout::connect: return "connect";
        case Timeout::tls: return "tls";
        case Timeout::write: return "write";
        case Timeout::read: return "read";
        case Timeout::request: return "request";
        case Timeout::transaction: return "transaction";
        case Timeout::lock: return "lock";
        case Timeout::statement: return "statement";
        case Timeout::executor: return "executor";
        case Timeout::pool: return "pool";
        case Timeout::total: return "total";
    }
    SEMEL_ASSERT(false && "a Timeout outside its enumeration");
}

std::string_view name(Stop stop) noexcept {
    switch (stop) {
        case Stop::none: return "none";
        case Stop::not_retryable: return "not_retryable";
        case Stop::not_repeatable: return "not_repeatable";
        case Stop::attempts: return "attempts";
        case Stop::elapsed: return "elapsed";
        case Stop::budget: return "budget";
        case Stop::breaker: return "breaker";
        case Stop::deadline: return "deadline";
        case Stop::stopped: return "stopped";
        case Stop::not_owner: return "not_owner";
    }
    SEMEL_ASSERT(false && "a Stop outside its enumeration");
}

Error Error::within(std::string_view what) && {
    std::string outer;
    outer.reserve(what.size() + 2 + message.size());
    outer.append(what).append(": ").append(message);
    message = std::move(outer);
    return std::move(*this);
}

std::string Error::describe() const {
    std::string text = message;
    if (!cause.code.empty()) text.append(" [").append(cause.code).append("]");
    if (cause.timeout != Timeout::none) text.append(" (timeout: ").append(name(cause.timeout)).append(")");
    if (cause.stop != Stop::none) {
        text.append(" (stopped retrying: ").append(name(cause.stop));
        text.append(", attempts: ").append(std::to_string(cause.attempts)).append(")");
    }
    if (!native.empty()) text.append("; the other side said: ").append(native);
    if (!cause.hint.empty()) text.append("; ").append(cause.hint);
    return text;
}

}  // namespace semel
