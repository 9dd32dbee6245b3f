#include "semel/sink/sink.hpp"

namespace semel {
namespace {

/// The code of a failure that no sink can have by itself.
constexpr std::string_view not_asked = "refused_unasked";

}  // namespace

bool same_aggregate(const Message& one, const Message& other) noexcept {
    return one.aggregate.id == other.aggregate.id && one.aggregate.type == other.aggregate.type &&
           one.tenant == other.tenant;
}

Error behind_unacknowledged() {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "not sent: an earlier event of the aggregate was not acknowledged";
    return error;
}

Error final_refusal(Error why) {
    why.fault = Fault::rejected;
    why.cause.code = not_asked;
    return why;
}

bool is_final(const Error& error) noexcept { return error.fault == Fault::rejected && error.cause.code == not_asked; }

}  // namespace semel
