#pragma once

#include "apps/orders/http/page.hpp"
#include "semel/command/command.hpp"
#include "semel/http/command_route.hpp"
#include "semel/http/problem_codes.hpp"
#include "semel/http/router.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

/// How long the replies of an operation are kept.
using RetentionOf = std::function<semel::Duration(std::string_view operation)>;

/// A field of the header, or a query parameter, by its name.
struct FieldEntry {
    std::string_view name;
    std::string_view description;
    bool required = false;  ///< Of a parameter: a header field that is named here always is.
};

/// A route that changes something: POST. What stands here is what a client is told in /openapi.json.
struct CommandEntry {
    std::string_view path;       ///< "/api/v1/quotes/{id}/submit"
    std::string_view operation;  ///< Part of every command's identity, so it never changes: "quote.submit".
    std::string_view summary;
    std::string_view request{};  ///< The schema of the body (http/schemas/); empty: it has no members.
    unsigned status = 200;       ///< Of success.
    std::string_view reply;      ///< The schema of the reply.
    /// The kind whose version the ETag of the reply tells; empty: that of `guarded`, or there is none.
    std::string_view etag{};
    /// The kind whose version the client must name by If-Match, as in `"quote-version-7"`; empty: none.
    std::string_view guarded{};
    /// What it may be refused with, beside what every command may be.
    std::vector<semel::http::ProblemKind> refusals{};
    semel::http::CommandHandler handle;
    std::vector<semel::http::RouteNaturalKey> natural_keys{};
    std::optional<semel::Duration> deadline{};
    /// Instead of token and Idempotency-Key: for senders who sign what they send (`keyed` is false then).
    semel::http::Identify identify{};
    /// Instead of IDEMPOTENCY_KEY_EXPIRED: for senders who could do nothing about that.
    std::function<semel::http::Response(const semel::http::Request&)> when_expired{};
    bool may_exist = false;             ///< 200 instead, with Content-Location: what was asked for is there already.
    bool may_be_async = false;          ///< 202 for clients who prefer not to wait; see http/async.hpp.
    bool keyed = true;                  ///< False: the request itself says which command it is; no Idempotency-Key.
    std::string_view variables{};       ///< What the variables of the path look like, as a pattern; empty: UUIDs.
    std::vector<FieldEntry> headers{};  ///< That it needs, beside the usual ones.
};

using FilterEntry = FieldEntry;

/// A route that reads: GET.
struct ReadEntry {
    std::string_view path;
    std::string_view summary;
    std::string_view reply;  ///< The schema of one thing, or of an entry if it is a collection.
    bool is_collection = false;
    std::vector<FilterEntry> filters{};  ///< Of a collection, beside `limit` and `cursor`.
    std::string_view etag{};             ///< The kind whose version the ETag tells; empty: none.
    std::string_view variables{};        ///< What the variables of the path look like, as a pattern; empty: UUIDs.
    std::function<semel::http::Response(const semel::http::Request&)> handle{};
};

/// A route that takes messages: POST. No command: a message is known by its own id, and its sender learns only whether to
/// send it again. 204 is its success, and whatever comes is its body.
struct MessageEntry {
    std::string_view path;
    std::string_view operation;
    std::string_view summary;
    std::vector<FieldEntry> headers{};  ///< That it needs.
    std::vector<semel::http::ProblemKind> refusals{};
};

/// A schema of its own for the states of a kind of thing, so that they stand in one place: in its domain.
struct StatesEntry {
    std::string_view name;  ///< "QuoteState", for references in http/schemas/.
    std::string_view description;
    std::vector<std::string_view> states;
};

/// The routes under /api/v1 together with what they look like from outside: a route cannot be added without its
/// description.
class Api {
public:
    Api(semel::http::CommandRoutes commands, RetentionOf retention);
    ~Api();
    Api(const Api&) = delete;
    Api& operator=(const Api&) = delete;

    void command(const CommandEntry& entry);
    void read(const ReadEntry& entry);
    void states(std::string_view name, std::string_view description, std::span<const std::string_view> states);
    /// A route that is made elsewhere (a command with more than one way to be executed), described like the others.
    void add(semel::http::Route route, const CommandEntry& described);
    void add(semel::http::Route route, const ReadEntry& described);
    void add(semel::http::Route route, const MessageEntry& described);

    /// The route that `command` would add, for whoever wraps it.
    [[nodiscard]] semel::http::Route route_of(const CommandEntry& entry) const;

    /// Every command that was added, by its operation, for whoever names one in a configuration.
    [[nodiscard]] const std::vector<std::string>& operations() const noexcept;
    /// The OpenAPI 3.1 document of what was added so far. A schema that nobody wrote is a programmer's error.
    [[nodiscard]] std::string openapi() const;
    /// Once, when everything was added; GET /openapi.json is among it.
    [[nodiscard]] semel::http::Router take_router();

private:
    struct State;
    semel::http::CommandRoutes commands_;
    RetentionOf retention_;
    std::unique_ptr<State> state_;
};

}  // namespace orders
