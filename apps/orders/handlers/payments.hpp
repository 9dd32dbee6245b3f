#pragma once

#include "apps/orders/domain/payment.hpp"
#include "apps/orders/domain/refusal.hpp"
#include "semel/command/command.hpp"

#include <string>

namespace orders {

struct CreatePayment {
    std::string reference;
    semel::Decimal amount;
    std::string currency;
};
/// Only posts: one round trip. A reference that is there already fails on its unique index, and then
/// `settle_payment` decides.
[[nodiscard]] Payment create_payment(const CreatePayment& asked, semel::Work& work);

/// What a second report of a reference is: the payment that is there if both say the same, else a Duplicate.
[[nodiscard]] semel::Result<Handled<Payment>> settle_payment(const CreatePayment& asked, semel::Work& work);

/// A payment, and whether it was made here or was there already.
struct SettledPayment {
    Handled<Payment> handled;
    bool is_new = false;
};
/// Both in one, for a handler that may wait: looks first, and creates what is not there. Whoever loses the race for a
/// reference gets a `conflict`, so that the transaction runs again and finds the winner's.
[[nodiscard]] semel::Result<SettledPayment> settle_or_create_payment(const CreatePayment& asked, semel::Work& work);

}  // namespace orders
