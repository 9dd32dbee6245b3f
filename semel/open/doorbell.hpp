#pragma once

#include "semel/postgres/listener.hpp"
#include "semel/postgres/notifier.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace semel {

/// Hears what other processes append to the database at an address, and calls `heard`. None where the database cannot
/// tell (SQLite): relays look by themselves.
[[nodiscard]] Result<std::unique_ptr<postgres::Listener>> open_listener(std::string_view address,
                                                                        std::function<void()> heard,
                                                                        Clock& clock = system_clock());

/// Tells the relays of other processes that something was appended. None where the database cannot tell.
[[nodiscard]] Result<std::unique_ptr<postgres::Notifier>> open_notifier(std::string_view address,
                                                                        Clock& clock = system_clock());

}  // namespace semel
