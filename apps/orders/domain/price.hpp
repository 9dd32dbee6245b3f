#pragma once

#include "semel/base/decimal.hpp"
#include "semel/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

/// Net and tax add up to gross, exactly. Every sum of the platform is one of these.
struct Sums {
    semel::Decimal net;
    semel::Decimal tax;
    semel::Decimal gross;

    /// Nothing, written as this currency writes it: "0.00".
    [[nodiscard]] static Sums none(std::string_view currency);
    [[nodiscard]] semel::Result<Sums> plus(const Sums& other) const;
    friend bool operator==(const Sums&, const Sums&) = default;
};

/// From this quantity on.
struct QuantityDiscount {
    std::int64_t quantity_from = 1;
    semel::Decimal rate;  ///< 0.05 is five per cent.
};

/// What the catalogue says of a product in one currency.
struct Product {
    std::string sku;
    std::string name;
    std::optional<semel::Decimal> list_price{};  ///< None: it is not sold in this currency.
    semel::Decimal tax_rate;
    std::vector<QuantityDiscount> discounts{};  ///< By ascending quantity.
};

/// How one line was priced.
struct LinePrice {
    semel::Decimal unit_price{};
    bool agreed = false;        ///< With the customer, instead of the list's: no quantity discount on top.
    semel::Decimal discount{};  ///< The rate that was taken off.
    semel::Decimal tax_rate{};
    Sums sums{};
};

/// What is taxed at no rate of its own.
inline const semel::Decimal standard_tax_rate = semel::Decimal::of(20, 2).value();

/// How many digits a sum in this currency has behind the point.
[[nodiscard]] int places_of(std::string_view currency) noexcept;

/// net = unit price × quantity × (1 − discount), tax = net × rate; each is rounded once, half up, to the currency's
/// digits. An Error (`rejected`) if that is more than 38 digits: what parse_money accepts times quantity_max never is
/// (15 + 4 digits times 7, a rate of 4 on top), a catalogue's price may be anything.
///
/// The product must have a list price.
[[nodiscard]] semel::Result<LinePrice> price_from_list(const Product& product, std::int64_t quantity,
                                                       std::string_view currency);
[[nodiscard]] semel::Result<LinePrice> price_as_agreed(const semel::Decimal& unit_price, const semel::Decimal& tax_rate,
                                                       std::int64_t quantity, std::string_view currency);

}  // namespace orders
