#include "semel/nats/failure_table.hpp"

#include <nats/nats.h>

#include <array>
#include <string>

namespace semel::nats {
namespace {

constexpr Rule jetstream_rule(std::string_view code, std::string_view name, Fault fault, std::string_view why) {
    return {.code = code,
            .name = name,
            .connect = fault,
            .transaction = fault,
            .commit = fault,
            .closes_session = false,
            .why = why};
}

constexpr Fault rejected = Fault::rejected;
constexpr Fault throttled = Fault::throttled;
constexpr Fault away = Fault::unavailable;

constexpr std::array jetstream_table{
    // The message itself.
    jetstream_rule("10054", "JSStreamMessageExceedsMaximumErr", rejected,
                   "The message is larger than the stream takes."),
    jetstream_rule("10060", "JSStreamNotMatchErr", rejected, "The subject belongs to another stream."),
    // There is no room.
    jetstream_rule("10002", "JSAccountResourcesExceededErr", throttled, "The account has used up what it may."),
    jetstream_rule("10023", "JSInsufficientResourcesErr", throttled, "The server has no resources left."),
    jetstream_rule("10028", "JSMemoryResourcesExceededErr", throttled, "The server has no memory left."),
    jetstream_rule("10047", "JSStorageResourcesExceededErr", throttled, "The server has no storage left."),
    jetstream_rule("10053", "JSStreamLimitsErr", throttled, "The stream is full."),
    jetstream_rule("10077", "JSStreamStoreFailedErr", throttled, "The stream is full, or could not store the message."),
    jetstream_rule("10122", "JSStreamMaxStreamBytesExceededErr", throttled, "The stream is full."),
    // Nobody is there who could take it now.
    jetstream_rule("10004", "JSClusterIncompleteErr", away, "The cluster gave incomplete results."),
    jetstream_rule("10005", "JSClusterNoPeersErr", away, "The cluster has no peer for the stream."),
    jetstream_rule("10006", "JSClusterNotActiveErr", away, "The cluster is not active."),
    jetstream_rule("10007", "JSClusterNotAssignedErr", away, "The stream is not assigned to this server."),
    jetstream_rule("10008", "JSClusterNotAvailErr", away, "JetStream is temporarily unavailable."),
    jetstream_rule("10009", "JSClusterNotLeaderErr", away, "The server is not the leader."),
    jetstream_rule("10039", "JSNotEnabledForAccountErr", away, "JetStream is not enabled for the account."),
    jetstream_rule("10041", "JSRaftGeneralErr", away, "The cluster did not agree."),
    jetstream_rule("10059", "JSStreamNotFoundErr", away, "The stream is not there."),
    jetstream_rule("10076", "JSNotEnabledErr", away, "JetStream is not enabled."),
    jetstream_rule("10109", "JSStreamSealedErr", away, "The stream is sealed and takes nothing."),
    jetstream_rule("10118", "JSStreamOfflineErr", away, "The stream is offline."),
};

}  // namespace

std::span<const Rule> jetstream_rules() noexcept { return jetstream_table; }

Error error_from(int error_code, std::string_view native) {
    Error error;
    error.cause.code = std::to_string(error_code);
    error.native = native;
    const Rule* rule = find(jetstream_table, error.cause.code);
    error.fault = rule != nullptr ? rule->commit : Fault::unavailable;
    error.message = rule != nullptr ? std::string(rule->why) : "JetStream did not take it.";
    error.message.pop_back();  // Sentences of the table become part of longer ones.
    return error;
}

std::string_view last_words() noexcept {
    const char* words = nats_GetLastError(nullptr);
    return words != nullptr ? words : std::string_view();
}

Error client_error(std::string_view what, int status) {
    Error error;
    error.fault = Fault::unavailable;
    error.message.append(what).append(": ").append(natsStatus_GetText(static_cast<natsStatus>(status)));
    error.cause.code = std::to_string(status);
    if (status == NATS_CONNECTION_AUTH_FAILED) error.cause.hint = "user, password, token or credentials are not right";
    if (status == NATS_SSL_ERROR) error.cause.hint = "the server's certificate must be valid and name the host";
    return error;
}

}  // namespace semel::nats
