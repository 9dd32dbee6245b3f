#pragma once

#include "semel/base/result.hpp"
#include "semel/testing/file_descriptor.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace semel::testing {

/// A directory of its own under the system's temporary directory, deleted with everything in it.
/// What a killed process left behind is deleted by the next one that makes such a directory.
class TempDir {
public:
    /// `purpose` becomes part of the name. A non-empty `owner` gets the directory, for a server
    /// that runs as another user.
    [[nodiscard]] static Result<TempDir> make(std::string_view purpose, const std::string& owner = {});
    TempDir(TempDir&& other) noexcept;
    TempDir& operator=(TempDir&& other) noexcept;
    ~TempDir();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    TempDir() = default;
    void remove() noexcept;
    std::filesystem::path path_;
    FileDescriptor lock_;  ///< Held as long as we live; free means that the directory is an orphan.
    int owner_process_ = 0;
};

/// A TCP port on loopback that nobody listens on and that was not handed out before by this
/// process. Lies below the ports which the kernel gives to outgoing connections, so that a server
/// which is down for a while does not lose it to a client.
[[nodiscard]] Result<int> free_port();

}  // namespace semel::testing
