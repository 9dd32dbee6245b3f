#pragma once

#include "semel/http/authenticate.hpp"
#include "semel/retry/owner.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::http {

/// Whether two names of fields, tokens or media types are the same: ASCII letters in either case.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;

/// The fields of a message, in the order in which they came. Names are compared without case.
class Headers {
public:
    struct Field {
        std::string name;
        std::string value;
        friend bool operator==(const Field&, const Field&) = default;
    };

    Headers() = default;
    Headers(std::initializer_list<Field> fields) : fields_(fields) {}

    /// The value of the first field of that name. Valid until the headers change.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
    /// All values of that name, in order.
    [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;
    [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
    /// Replaces every field of that name by one.
    void set(std::string_view name, std::string value);
    /// Adds a field beside those of the same name.
    void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
    /// Returns how many were removed.
    std::size_t remove(std::string_view name);
    void clear() noexcept { fields_.clear(); }

    [[nodiscard]] auto begin() const noexcept { return fields_.begin(); }
    [[nodiscard]] auto end() const noexcept { return fields_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }
    [[nodiscard]] bool empty() const noexcept { return fields_.empty(); }

    friend bool operator==(const Headers&, const Headers&) = default;

private:
    std::vector<Field> fields_;
};

/// Whether a name may stand in a field: a token of RFC 9110.
[[nodiscard]] bool is_field_name(std::string_view name) noexcept;
/// Whether a value may stand in a field: no control characters but the tab, so that no value can
/// begin a field of its own.
[[nodiscard]] bool is_field_value(std::string_view value) noexcept;

/// A name and a value, decoded: of the query or of a path.
using Parameter = std::pair<std::string, std::string>;

/// One request as a handler sees it: well-formed, within its limits, from a known caller. A handler
/// may move the parts out of it.
struct Request {
    std::string method;
    std::string target;  ///< As it came: path and query, still encoded.
    std::string path;    ///< Decoded, for people; the Router decides by segments.
    std::vector<Parameter> query;
    std::vector<Parameter> variables;  ///< `{id}` of the route's pattern, by name.
    Headers headers;
    std::string body;
    RetryContext retry;  ///< Whose attempt this is, and until when an answer is of use.
    std::string correlation_id;
    Principal who;
    std::string peer;  ///< The other end's address, without its port.

    /// The first parameter of that name in the query.
    [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const noexcept;
    /// The value of a path variable; the route's pattern must name it.
    [[nodiscard]] const std::string& variable(std::string_view name) const noexcept;
};

/// What to answer. `Content-Length`, `Connection`, `Date` and `X-Correlation-Id` are the server's
/// business and replaced if set.
struct Response {
    unsigned status = 200;
    Headers headers{};
    std::string body{};
    /// Sent instead of `body` if there is one: a finished reply goes out from the cache as it is.
    std::shared_ptr<const std::string> shared_body{};

    [[nodiscard]] std::string_view content() const noexcept {
        return shared_body ? std::string_view(*shared_body) : std::string_view(body);
    }
};

}  // namespace semel::http
