#include "semel/sqlite/open.hpp"

#include <utility>

namespace semel::sqlite {

Result<std::shared_ptr<Store>> open(std::string path, const StoreOptions& options, Clock& clock) {
    return Store::make(std::move(path), options, clock);
}

Connect connector(std::shared_ptr<Store> store) {
    return [store = std::move(store)](Deadline) { return store->session(); };
}

}  // namespace semel::sqlite
