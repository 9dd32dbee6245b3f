#pragma once

#include "semel/base/result.hpp"

#include <type_traits>
#include <utility>
#include <variant>

namespace semel {

/// The transaction is durable. Carries what the work returned.
template <class T>
struct Committed {
    T value;
};
template <>
struct Committed<void> {};

/// Nothing of the transaction is, or will become, visible.
struct NotCommitted {
    Error error;
};

/// The transaction may or may not be durable, and could not be resolved in time.
struct Unknown {
    Error error;
};

/// What became of a transaction. There is no conversion to bool and no plain `value()`: the
/// third outcome cannot be mistaken for a failure or a success by accident.
template <class T = void>
class [[nodiscard]] Outcome {
public:
    using value_type = T;

    Outcome(Committed<T> committed) : state_(std::move(committed)) {}
    Outcome(NotCommitted failed) : state_(std::move(failed)) {}
    Outcome(Unknown unknown) : state_(std::move(unknown)) {}

    [[nodiscard]] bool committed() const noexcept { return std::holds_alternative<Committed<T>>(state_); }
    [[nodiscard]] bool not_committed() const noexcept { return std::holds_alternative<NotCommitted>(state_); }
    [[nodiscard]] bool unknown() const noexcept { return std::holds_alternative<Unknown>(state_); }

    /// What the work returned. Only of a committed outcome.
    template <class U = T>
        requires(!std::is_void_v<U>)
    [[nodiscard]] const U& value() const& {
        SEMEL_ASSERT(committed());
        return std::get<Committed<T>>(state_).value;
    }
    template <class U = T>
        requires(!std::is_void_v<U>)
    [[nodiscard]] U value() && {
        SEMEL_ASSERT(committed());
        return std::get<Committed<T>>(std::move(state_)).value;
    }

    /// Why it did not commit, or why that is not known. Only of the other two outcomes.
    [[nodiscard]] const Error& error() const& {
        SEMEL_ASSERT(!committed());
        return unknown() ? std::get<Unknown>(state_).error : std::get<NotCommitted>(state_).error;
    }
    [[nodiscard]] Error error() && {
        SEMEL_ASSERT(!committed());
        return unknown() ? std::get<Unknown>(std::move(state_)).error : std::get<NotCommitted>(std::move(state_)).error;
    }

    /// Calls the one of three functions that fits; leaving one out does not compile.
    template <class OnCommitted, class OnNotCommitted, class OnUnknown>
    decltype(auto) match(OnCommitted&& on_committed, OnNotCommitted&& on_not_committed, OnUnknown&& on_unknown) const {
        if (unknown()) return on_unknown(std::get<Unknown>(state_));
        if (not_committed()) return on_not_committed(std::get<NotCommitted>(state_));
        return on_committed(std::get<Committed<T>>(state_));
    }

private:
    std::variant<Committed<T>, NotCommitted, Unknown> state_;
};

}  // namespace semel
