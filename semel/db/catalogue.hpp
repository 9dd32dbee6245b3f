#pragma once

#include "semel/base/result.hpp"
#include "semel/db/sql.hpp"

#include <span>
#include <string>
#include <string_view>

namespace semel {

/// The statements of one driver by name: the same names mean the same everywhere, the texts differ. A driver
/// embeds them from its sql/NAME.sql. Modules fetch what they need once, when they are made, so that a missing
/// name is found at the start and not in the middle of the night.
class Catalogue {
public:
    struct Entry {
        std::string_view name;
        std::string_view sql;
    };

    constexpr explicit Catalogue(std::span<const Entry> entries) noexcept : entries_(entries) {}

    [[nodiscard]] Result<Sql> find(std::string_view name) const {
        for (const Entry& entry : entries_)
            if (entry.name == name)
                return Sql::from_program_text(entry.sql);  // tidy: allow(sql-program-text): a driver's file
        return fail(Fault::broken, "the driver knows no statement called " + std::string(name));
    }
    [[nodiscard]] constexpr std::span<const Entry> entries() const noexcept { return entries_; }

private:
    std::span<const Entry> entries_;
};

}  // namespace semel
