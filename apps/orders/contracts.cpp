#include "apps/orders/contracts.hpp"

#include "semel/contract/contracts.hpp"

namespace orders {

semel::Result<semel::EventCheck> contract_check() {
    const semel::Contracts contracts = SEMEL_TRY(semel::Contracts::parse(contract_files()));
    return semel::EventCheck(
        [contracts](const semel::Event& event) { return contracts.check(event.type, event.payload, event.headers); });
}

}  // namespace orders
