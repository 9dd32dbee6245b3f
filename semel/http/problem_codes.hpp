#pragma once

#include <string_view>

namespace semel::http {

/// A kind of problem: the stable code that clients branch on, the usual status and the title.
struct ProblemKind {
    std::string_view code;
    unsigned status;
    std::string_view title;
};

/// All of them, in one place. A code never changes its meaning; a status may differ where noted.
namespace problems {

// The key.
inline constexpr ProblemKind missing_idempotency_key{"MISSING_IDEMPOTENCY_KEY", 400, "The Idempotency-Key is missing"};
inline constexpr ProblemKind invalid_idempotency_key{"INVALID_IDEMPOTENCY_KEY", 400,
                                                     "The Idempotency-Key is malformed"};
/// 422 in the IETF profile.
inline constexpr ProblemKind idempotency_key_conflict{"IDEMPOTENCY_KEY_CONFLICT", 409,
                                                      "The key was used with another request"};
inline constexpr ProblemKind request_already_in_progress{"REQUEST_ALREADY_IN_PROGRESS", 409,
                                                         "The same request is being executed"};
inline constexpr ProblemKind idempotency_key_expired{"IDEMPOTENCY_KEY_EXPIRED", 409,
                                                     "The key's reply is no longer kept"};

// The resource.
inline constexpr ProblemKind precondition_failed{"PRECONDITION_FAILED", 412, "The resource has changed"};
inline constexpr ProblemKind precondition_required{"PRECONDITION_REQUIRED", 428, "An If-Match is required"};
inline constexpr ProblemKind version_conflict{"VERSION_CONFLICT", 409, "The resource was changed by someone else"};
inline constexpr ProblemKind invalid_state_transition{"INVALID_STATE_TRANSITION", 409,
                                                      "The resource's state does not allow this"};
inline constexpr ProblemKind duplicate_business_command{"DUPLICATE_BUSINESS_COMMAND", 409,
                                                        "This was already done under another key"};

// The outcome.
inline constexpr ProblemKind transient_persistence_failure{"TRANSIENT_PERSISTENCE_FAILURE", 503,
                                                           "The store cannot be reached for now"};
inline constexpr ProblemKind outcome_unknown{"OUTCOME_UNKNOWN", 503, "It is not known whether this was done"};
/// 202 while the answer may still come.
inline constexpr ProblemKind external_outcome_unknown{"EXTERNAL_OUTCOME_UNKNOWN", 409,
                                                      "It is not known what the other side did"};
inline constexpr ProblemKind needs_reconciliation{"NEEDS_RECONCILIATION", 409, "A person has to settle this"};

// The request.
inline constexpr ProblemKind malformed_request{"MALFORMED_REQUEST", 400, "The request is malformed"};
inline constexpr ProblemKind malformed_body{"MALFORMED_BODY", 400, "The body is malformed"};
inline constexpr ProblemKind validation_failed{"VALIDATION_FAILED", 400, "The request is not acceptable"};
inline constexpr ProblemKind unsupported_media_type{"UNSUPPORTED_MEDIA_TYPE", 415, "The media type is not supported"};
inline constexpr ProblemKind not_found{"NOT_FOUND", 404, "There is no such resource"};
inline constexpr ProblemKind method_not_allowed{"METHOD_NOT_ALLOWED", 405, "The resource does not have this method"};
inline constexpr ProblemKind request_timeout{"REQUEST_TIMEOUT", 408, "The request did not arrive in time"};
inline constexpr ProblemKind payload_too_large{"PAYLOAD_TOO_LARGE", 413, "The body is too large"};
inline constexpr ProblemKind uri_too_long{"URI_TOO_LONG", 414, "The request line is too long"};
inline constexpr ProblemKind expectation_failed{"EXPECTATION_FAILED", 417, "The expectation is not supported"};
inline constexpr ProblemKind headers_too_large{"HEADERS_TOO_LARGE", 431, "The header fields are too large"};
inline constexpr ProblemKind not_implemented{"NOT_IMPLEMENTED", 501, "The server does not support this"};
inline constexpr ProblemKind version_not_supported{"HTTP_VERSION_NOT_SUPPORTED", 505,
                                                   "The server speaks HTTP/1.1 and HTTP/1.0"};

// The caller.
inline constexpr ProblemKind unauthenticated{"UNAUTHENTICATED", 401, "A valid bearer token is required"};
inline constexpr ProblemKind forbidden{"FORBIDDEN", 403, "The caller may not do this"};

// The server.
inline constexpr ProblemKind overloaded{"OVERLOADED", 503, "The server has too much to do"};
inline constexpr ProblemKind not_ready{"NOT_READY", 503, "The server is not ready"};
/// 503 with Retry-After where the work was not begun, so that anyone may try again.
inline constexpr ProblemKind deadline_exceeded{"DEADLINE_EXCEEDED", 504, "The deadline passed"};
inline constexpr ProblemKind internal_error{"INTERNAL_ERROR", 500, "The server failed"};

}  // namespace problems

}  // namespace semel::http
