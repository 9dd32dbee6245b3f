#pragma once

#include "semel/base/random.hpp"
#include "tests/orders/model.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders::model {

/// Draws what is asked next, by chance and by what the model holds: mostly what makes sense, so that quotes get to be
/// orders and orders assets, and now and then what does not. The same seed asks the same of the same model.
class Walk {
public:
    explicit Walk(std::uint64_t seed) noexcept : random_(seed) {}

    [[nodiscard]] Asked next(const Model& model);
    /// Each command on one thing in each state in which it makes no sense, seen as it is now.
    [[nodiscard]] std::vector<Asked> senseless(const Model& model);
    /// One in so many.
    [[nodiscard]] bool chance(std::uint64_t in) noexcept { return random_.below(in) == 0; }
    [[nodiscard]] std::size_t below(std::size_t bound) noexcept { return random_.below(bound); }

    /// A quote that could expire; none: there is none in the state that was drawn.
    [[nodiscard]] std::optional<std::size_t> some_open_quote(const Model& model);
    /// Other prices and another tax rate of some products.
    void change_catalogue(Catalogue& catalogue);

private:
    [[nodiscard]] std::string_view one_of(std::initializer_list<std::string_view> words);
    [[nodiscard]] std::string some_sku(const Model& model);
    void fill_in(Asked& asked, const Model& model);

    semel::SeededRandom random_;
};

/// The kind of thing that a command changes.
[[nodiscard]] Kind kind_of(std::string_view operation);

}  // namespace orders::model
