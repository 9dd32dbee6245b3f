#pragma once

#include "semel/base/result.hpp"
#include "semel/http/head.hpp"

#include <tl/expected.hpp>

namespace semel::http::detail {

/// What a well-formed head must keep to beyond the grammar, so that nobody on the way can have read
/// it differently: one Host, one way to tell the body's length, one of each field that means one thing.
[[nodiscard]] tl::expected<HeadFacts, Problem> check_request(const Request& request, bool http11, bool keep_alive);
[[nodiscard]] Result<HeadFacts> check_response(const Response& response, bool http11, bool keep_alive, bool to_head);

}  // namespace semel::http::detail
