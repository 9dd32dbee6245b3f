#pragma once

#include "semel/base/digest.hpp"

namespace semel {

/// HMAC with SHA-256 (RFC 2104): whoever knows the key wrote the data.
[[nodiscard]] Digest hmac_sha256(BytesView key, BytesView data);

/// Whether they are equal, in a time that does not tell where they differ. Their sizes are no secret.
[[nodiscard]] bool equal_in_constant_time(BytesView a, BytesView b) noexcept;

}  // namespace semel
