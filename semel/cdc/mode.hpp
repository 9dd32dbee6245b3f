#pragma once

#include "semel/cdc/link.hpp"
#include "semel/db/database.hpp"

#include <string>

namespace semel::cdc {

/// Lets events leave through the log of the server: makes the publication if it is missing, and asks whoever runs a CDC relay
/// to make the slot and to turn appends to it. Until one does, nothing leaves. Doing it again mends a publication that no
/// longer shows the outbox. An Error (`rejected`) says what the server lacks, and nothing has changed.
[[nodiscard]] Status switch_to_cdc(Database& database, const LinkOptions& link, const std::string& slot,
                                   Deadline deadline);

/// Lets events be polled again. The CDC relay turns appends away from the log, sees to it that nothing is left in there, and
/// drops the slot; then polling relays go on. Until that is done nothing new leaves, so a CDC relay must be running.
[[nodiscard]] Status switch_to_polling(Database& database, Deadline deadline);

/// The name of the slot unless one is given.
inline constexpr const char* default_slot = "semel_outbox";

}  // namespace semel::cdc
