#include "semel/open/doorbell.hpp"

#include <string>

namespace semel {
namespace {

bool is_sqlite_address(std::string_view address) { return address.starts_with("sqlite:"); }

postgres::ConnectOptions connection_of(std::string_view address) {
    postgres::ConnectOptions options;
    options.connection = address;
    return options;
}

}  // namespace

Result<std::unique_ptr<postgres::Listener>> open_listener(std::string_view address, std::function<void()> heard,
                                                          Clock& clock) {
    if (is_sqlite_address(address)) return nullptr;
    return postgres::Listener::start(connection_of(address), std::move(heard), clock);
}

Result<std::unique_ptr<postgres::Notifier>> open_notifier(std::string_view address, Clock& clock) {
    if (is_sqlite_address(address)) return nullptr;
    return postgres::Notifier::create(connection_of(address), clock);
}

}  // namespace semel
