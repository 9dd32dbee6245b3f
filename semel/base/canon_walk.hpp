#pragma once

#include "semel/base/canon_order.hpp"

#include <string>

namespace semel::canon {

/// Reads a document and writes it without white space, with every string and number in its canonical form and the
/// members of its objects where they stand; `order` learns which objects must be sorted.
///
/// Output never needs more room than the input that is left, except where a number grows. So room for all of the
/// document is made once, and again only there.
class Walk {
public:
    /// `document` is followed by `input_padding` zero bytes.
    Walk(std::string_view document, std::string& text, std::vector<Member>& members, Order& order) noexcept
        : begin_(document.data()),
          end_(document.data() + document.size()),
          text_(text),
          members_(members),
          order_(order) {}

    /// How many bytes were written, from `output_slack` on; 0: refused.
    [[nodiscard]] std::uint32_t run();
    [[nodiscard]] const char* reason() const noexcept { return reason_; }
    /// Where it was refused.
    [[nodiscard]] std::size_t place() const noexcept { return static_cast<std::size_t>(place_ - begin_); }

private:
    Cursor value(Cursor at, unsigned depth);
    Cursor object(Cursor at, unsigned depth);
    Cursor array(Cursor at, unsigned depth);
    Cursor name(Cursor at);
    Cursor string(Cursor at);
    Cursor number(Cursor at);
    Cursor literal(Cursor at, std::string_view word);

    Cursor refuse(const char* at, const char* reason) noexcept;
    /// At the end of the document that is the reason; elsewhere the given one.
    Cursor refuse_unexpected(const char* at, const char* reason) noexcept;
    [[nodiscard]] char* make_room(char* out, std::size_t room);

    [[nodiscard]] std::uint32_t written(const char* out) const noexcept {
        return static_cast<std::uint32_t>(out - (text_.data() + output_slack));
    }

    const char* begin_;
    const char* end_;
    std::string& text_;
    std::vector<Member>& members_;  ///< Of the objects that are open, innermost last.
    Order& order_;
    const char* reason_ = nullptr;
    const char* place_ = nullptr;
};

}  // namespace semel::canon
