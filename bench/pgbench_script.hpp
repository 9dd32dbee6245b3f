#pragma once

#include <string_view>

namespace semel::bench {

/// What a script with pipelines begins with: pgbench 15 prepares at the first statement and cannot do so inside a
/// pipeline, hence one that every connection sends once. Wants `-D first=1`.
constexpr std::string_view prepared_ahead = R"(
\if :first
SELECT 1;
\endif
\set first 0
)";

}  // namespace semel::bench
