#pragma once

#include <string_view>

namespace semel {

/// One step of a schema, as its driver embeds it from migrations/NNNN_name.sql. A released step
/// never changes: its checksum is stored, and another text under the same number is refused.
struct Migration {
    int number;             ///< 1, 2, 3, … without gaps.
    std::string_view name;  ///< The part of the file name after the number.
    std::string_view sql;   ///< Statements separated by semicolons.
};

}  // namespace semel
