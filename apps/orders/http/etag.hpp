#pragma once

#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace orders {

/// `"quote-version-7"`: changes with every change, so that a client can say what it has seen.
[[nodiscard]] std::string etag_of(std::string_view kind, std::int64_t version);

/// The version that the request's If-Match names. Refused: none at all, and `*`, which would accept any version and
/// so lose somebody's update (428); several, or what is no entity tag (400). A tag that nothing of this kind can have
/// (another form, or a weak one) is version 0, which matches nothing.
[[nodiscard]] tl::expected<std::int64_t, semel::http::Problem> required_version(const semel::http::Request& request,
                                                                                std::string_view kind);

/// Whether If-None-Match says that the client has this representation already.
[[nodiscard]] bool is_unchanged(const semel::http::Request& request, std::string_view etag);

}  // namespace orders
