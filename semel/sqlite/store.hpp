#pragma once

#include "semel/base/result.hpp"
#include "semel/db/session.hpp"
#include "semel/sqlite/options.hpp"

#include <memory>
#include <string>

namespace semel::sqlite {

class Connection;
class Writer;
struct Limits;

/// One SQLite file and its single writer, shared by all sessions of the process. Made by `open`.
/// Thread-safe. Closing the last session and the last pointer to it closes the file.
///
/// In memory (":memory:") it works alike, except that read-only transactions take the writer's
/// turn too: there is no second connection to such a database.
class Store : public std::enable_shared_from_this<Store> {
public:
    /// What `open` calls.
    [[nodiscard]] static Result<std::shared_ptr<Store>> make(std::string path, const StoreOptions& options,
                                                             Clock& clock);
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    /// A session of its own for one thread at a time. Costs nothing until it is used, so it
    /// never waits; it fails only when the store has stopped.
    [[nodiscard]] Result<std::unique_ptr<Session>> session();

    /// An Error (`broken`) once the store has stopped because the disk failed it.
    [[nodiscard]] Status health() const;
    [[nodiscard]] StoreStats stats() const;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    // For this driver's sessions.
    [[nodiscard]] Writer& writer() noexcept { return *writer_; }
    [[nodiscard]] Clock& clock() noexcept { return *clock_; }
    [[nodiscard]] bool has_file() const noexcept { return has_file_; }
    [[nodiscard]] Result<std::unique_ptr<Connection>> open_reader(const Limits& limits) const;

private:
    Store(std::string path, const StoreOptions& options, Clock& clock, std::unique_ptr<Connection> connection);

    std::string path_;
    StoreOptions options_;
    Clock* clock_;
    bool has_file_;
    std::unique_ptr<Writer> writer_;
};

}  // namespace semel::sqlite
