#pragma once

#include "semel/base/id.hpp"
#include "semel/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace orders {

// Why a command was refused, in the words of the business. What status that is over HTTP is http/answer.cpp's concern.

/// What it is about does not exist, or is another tenant's.
struct NoSuch {
    std::string kind;  ///< "quote"
};
/// It was changed since the caller looked.
struct Stale {
    std::string kind;
    std::int64_t version = 0;  ///< Now.
};
/// Its state does not allow this.
struct WrongState {
    std::string kind;
    std::string state;  ///< Now.
    std::int64_t version = 0;
    std::string needed;
};
/// It was done already, by another command.
struct Duplicate {
    std::string kind;      ///< "payment"
    std::string existing;  ///< The id of what is there.
    std::string detail;
};
/// There are as many as there may be.
struct Full {
    std::string kind;  ///< "items"
    std::size_t max = 0;
};
/// It is well-formed and still makes no sense: a product that has no price, a task of another order.
struct Unacceptable {
    std::string field;
    std::string detail;
};

using Refusal = std::variant<NoSuch, Stale, WrongState, Duplicate, Full, Unacceptable>;

/// What a handler comes to: the thing it did, or why it did nothing. An Error around it is the database's.
template <class T>
using Handled = std::variant<T, Refusal>;

}  // namespace orders
