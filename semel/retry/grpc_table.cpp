#include "semel/retry/grpc_table.hpp"

#include "semel/base/assert.hpp"

#include <array>

namespace semel {
namespace {

using enum Fault;

constexpr std::array rules = {
    Rule{"1", "CANCELLED", rejected, unknown, unknown, false,
         "Not cancelled by us, so the server may have been at any point."},
    Rule{"2", "UNKNOWN", rejected, unknown, unknown, false, "An exception at any point of the server's work."},
    Rule{"3", "INVALID_ARGUMENT", rejected, rejected, rejected, false, "The same argument stays invalid."},
    Rule{"4", "DEADLINE_EXCEEDED", unavailable, unknown, unknown, false,
         "The server may have finished after we stopped waiting. If the whole operation's deadline has passed, "
         "retrying stops for that."},
    Rule{"5", "NOT_FOUND", rejected, rejected, rejected, false, "What is asked for is not there."},
    Rule{"6", "ALREADY_EXISTS", rejected, rejected, rejected, false, "What is to be created is there already."},
    Rule{"7", "PERMISSION_DENIED", rejected, rejected, rejected, false, "The caller may not do this."},
    Rule{"8", "RESOURCE_EXHAUSTED", rejected, rejected, rejected, false,
         "A quota or a full disk: without pushback nobody promises that waiting helps."},
    Rule{"8 pushback", "RESOURCE_EXHAUSTED, with pushback", throttled, throttled, throttled, false,
         "The server did nothing and says when to come back."},
    Rule{"9", "FAILED_PRECONDITION", rejected, rejected, rejected, false,
         "The system must first be brought into another state."},
    Rule{"10", "ABORTED", conflict, conflict, conflict, false,
         "Lost a race; the whole read-decide-write sequence must be run again."},
    Rule{"11", "OUT_OF_RANGE", rejected, rejected, rejected, false, "Past the valid range."},
    Rule{"12", "UNIMPLEMENTED", rejected, rejected, rejected, false, "The server does not know the method."},
    Rule{"13", "INTERNAL", rejected, unknown, unknown, false, "A broken invariant at any point of the server's work."},
    Rule{"14", "UNAVAILABLE", unavailable, unknown, unknown, false,
         "The transport was lost; once the call was sent, the server may have executed it."},
    Rule{"15", "DATA_LOSS", broken, broken, broken, false, "Data is lost or damaged beyond repair."},
    Rule{"16", "UNAUTHENTICATED", rejected, rejected, rejected, false, "The credentials are missing or invalid."},
};
static_assert(well_formed(rules));

}  // namespace

std::span<const Rule> grpc_rules() noexcept { return rules; }

std::string grpc_code(int status, GrpcPushback pushback) {
    std::string code = std::to_string(status);
    if (status == 8 && pushback == GrpcPushback::wait) code += " pushback";
    return code;
}

Fault classify_grpc(int status, GrpcPushback pushback, Phase phase) noexcept {
    SEMEL_ASSERT(status != 0);
    return classify(rules, grpc_code(status, pushback), phase);
}

}  // namespace semel
