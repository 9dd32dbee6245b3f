#pragma once

#include "semel/base/time.hpp"
#include "semel/http/core.hpp"
#include "semel/http/head.hpp"
#include "semel/http/message.hpp"
#include "semel/http/router.hpp"

#include <tl/expected.hpp>

#include <cstddef>

namespace semel::http {

/// A request that may go on to its body.
struct Admission {
    const Route* route = nullptr;
    std::size_t body_max = 0;
};

/// A request that is answered by its head alone.
struct Dismissal {
    Response response;
    bool well_formed = true;  ///< If not, nothing that follows on this connection can be trusted.
};

/// Decides from the head of a request what becomes of it, in this order: target, route,
/// authentication, retry context, announced length of the body. Fills the rest of `request`.
[[nodiscard]] tl::expected<Admission, Dismissal> admit(const Core& core, const HeadFacts& facts, Instant now,
                                                       Request& request);

}  // namespace semel::http
