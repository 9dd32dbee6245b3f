#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/testing/file_descriptor.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orders::testing {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// A request as a test writes it. Host and Content-Length are added unless they are there.
struct HttpRequest {
    std::string method = "GET";
    std::string target = "/";
    Fields headers{};
    std::string body{};

    [[nodiscard]] std::string text() const;
};

struct HttpResponse {
    int status = 0;
    Fields headers{};
    std::string body{};

    /// The first field of that name, in any case; none if there is none.
    [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
    /// A string or number of the JSON body, as text; empty if it has none of that name.
    [[nodiscard]] std::string member(std::string_view name) const;
    /// Of a problem.
    [[nodiscard]] std::string code() const { return member("code"); }
};

/// One connection to loopback on plain sockets, so that a test can do what a decent client never would: send garbage,
/// stop in the middle, leave without reading. Every wait is bounded. Move-only, one thread at a time.
class HttpConnection {
public:
    [[nodiscard]] static semel::Result<HttpConnection> open(int port);

    [[nodiscard]] semel::Status send(std::string_view bytes);
    [[nodiscard]] semel::Result<HttpResponse> receive(semel::Duration limit = std::chrono::seconds(40));
    [[nodiscard]] semel::Result<HttpResponse> exchange(const HttpRequest& request);
    /// Gone at once, without reading: the other side's answer meets a reset.
    void drop() noexcept;
    /// Whether the other side has closed.
    [[nodiscard]] bool closed_by_peer(semel::Duration limit);

private:
    explicit HttpConnection(semel::testing::FileDescriptor socket) : socket_(std::move(socket)) {}
    /// More bytes into the buffer; false: the other side has finished.
    [[nodiscard]] semel::Result<bool> read_more(semel::Instant until);

    semel::testing::FileDescriptor socket_;
    std::string buffer_;
};

/// One request on a connection of its own.
[[nodiscard]] semel::Result<HttpResponse> call(int port, const HttpRequest& request);

}  // namespace orders::testing
