#include "semel/sqlite/store.hpp"

#include "semel/sqlite/connection.hpp"
#include "semel/sqlite/store_session.hpp"
#include "semel/sqlite/writer.hpp"

#include <utility>

namespace semel::sqlite {

Result<std::shared_ptr<Store>> Store::make(std::string path, const StoreOptions& options, Clock& clock) {
    SEMEL_ASSERT(options.group_members_max > 0 && options.statements_max > 0 && options.checkpoint_pages > 0);
    const Limits limits{.deadline = {}, .lock = Deadline::after(clock.now(), options.lock_timeout)};
    const auto use = options.create ? Connection::Use::create : Connection::Use::write;
    auto connection = SEMEL_TRY(Connection::open(path, use, options.statements_max, clock, limits));
    return std::shared_ptr<Store>(new Store(std::move(path), options, clock, std::move(connection)));
}

Store::Store(std::string path, const StoreOptions& options, Clock& clock, std::unique_ptr<Connection> connection)
    : path_(std::move(path)),
      options_(options),
      clock_(&clock),
      has_file_(connection->has_file()),
      writer_(std::make_unique<Writer>(std::move(connection), options, clock)) {}

Store::~Store() = default;

Result<std::unique_ptr<Session>> Store::session() {
    SEMEL_TRY(health());
    return std::make_unique<StoreSession>(shared_from_this());
}

Status Store::health() const { return writer_->health(); }

StoreStats Store::stats() const { return writer_->stats(); }

Result<std::unique_ptr<Connection>> Store::open_reader(const Limits& limits) const {
    return Connection::open(path_, Connection::Use::read, options_.statements_max, *clock_, limits);
}

}  // namespace semel::sqlite
