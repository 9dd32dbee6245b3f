#pragma once

#include "semel/base/result.hpp"
#include "semel/db/value.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace semel::postgres {

/// Parameters in the form libpq takes them. Valid until the next call on the Arena they came from.
struct Arguments {
    int count = 0;
    const char* const* values = nullptr;
    const int* lengths = nullptr;
    const int* formats = nullptr;
};

/// Keeps the encoded parameters of everything that is queued, in one buffer that grows to the
/// largest transaction and is reused from then on. Everything travels as text, so that the server
/// infers the types; bytes alone travel as they are.
class Arena {
public:
    /// Where one statement's parameters lie.
    struct Range {
        std::size_t first = 0;
        std::size_t count = 0;
    };

    /// Copies the parameters in, and behind them one more number if there is one. Refuses
    /// (`rejected`) a text with a zero byte, which no column holds, a value past PostgreSQL's
    /// gigabyte, and more parameters than the protocol can count.
    [[nodiscard]] Result<Range> add(std::span<const Parameter> parameters, std::optional<std::int64_t> last = {});
    [[nodiscard]] Arguments arguments(Range range);
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    void clear() noexcept;

private:
    struct Value {
        std::size_t offset;
        int length;
        int format;  ///< libpq's: 0 text, 1 binary, and -1 for NULL.
    };
    [[nodiscard]] Status add_one(const Parameter& parameter);
    void add_text(std::string_view text);

    std::string bytes_;
    std::vector<Value> values_;
    std::vector<const char*> pointers_;
    std::vector<int> lengths_;
    std::vector<int> formats_;
};

}  // namespace semel::postgres
