#pragma once

#include "semel/db/pool.hpp"
#include "semel/sqlite/store.hpp"

#include <memory>
#include <string>

namespace semel::sqlite {

/// Opens a file as the one writer of this process: write-ahead log, synchronous=FULL, foreign
/// keys enforced. Open each file once per process and share the Store; other processes may
/// open it too, and then wait for one another's transactions. `path` is a file, a `file:` URI, or
/// ":memory:". `clock` must outlive the Store.
///
/// Errors say what to do: a missing directory, a directory instead of a file, a read-only file or
/// directory, a file of another program (`rejected`), a damaged one (`broken`), one locked by
/// another process (`unavailable`, Timeout::lock).
[[nodiscard]] Result<std::shared_ptr<Store>> open(std::string path, const StoreOptions& options = {},
                                                  Clock& clock = system_clock());

/// What a Pool needs: opens sessions of the store.
[[nodiscard]] Connect connector(std::shared_ptr<Store> store);

}  // namespace semel::sqlite
