#pragma once

#include "semel/db/session.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <vector>

namespace semel::sqlite {

/// Statements that wait for the next flush, with their own copies of texts and bytes: another
/// thread may execute them while the one that posted them waits. Not thread-safe.
class Posted {
public:
    Posted() = default;
    Posted(const Posted&) = delete;
    Posted& operator=(const Posted&) = delete;

    void add(const Statement& statement);
    /// As `add`, ahead of all others.
    void add_ahead(const Statement& statement);
    void clear() noexcept;

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    /// Valid until the next `add` or `clear`.
    [[nodiscard]] Statement operator[](std::size_t index) const noexcept;

private:
    struct Entry {
        Sql sql;
        std::size_t first;
        std::size_t count;
        std::optional<std::int64_t> expected_rows;
    };
    [[nodiscard]] std::string_view keep(std::string_view bytes);

    std::vector<Entry> entries_;
    std::vector<Parameter> values_;
    /// Holds the texts of an ordinary command without touching the heap.
    std::array<std::byte, 1024> near_{};
    std::pmr::monotonic_buffer_resource texts_{near_.data(), near_.size()};
};

}  // namespace semel::sqlite
