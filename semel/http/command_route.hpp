#pragma once

#include "semel/command/executor.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/router.hpp"

#include <tl/expected.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace semel::http {

inline constexpr std::string_view replayed_header = "Idempotency-Replayed";

/// Which status the clients expect for a key that was used with another request.
enum class Profile : unsigned char {
    classic,  ///< 409
    ietf,     ///< 422, as the IETF draft has it
};

/// What executes a request as a command. The request outlives the call; everything else about repeats, races and
/// lost answers is taken care of.
using CommandHandler = std::function<Result<CommandDecision>(const Request&, Work&)>;

/// A NaturalKey whose meaning depends on what was asked.
struct RouteNaturalKey {
    std::string constraint;
    CommandHandler decide;
};

/// Who asks, and under which key.
struct Asker {
    std::string tenant;
    std::string caller;
    std::string key;
};

/// How a route knows who asks; the Problem if it does not. Runs on the event loop: it must not block.
using Identify = std::function<tl::expected<Asker, Problem>(const Request&)>;

/// A route that changes something.
struct CommandRoute {
    std::string operation;  ///< Part of the identity: "payment.create". Never changes, unlike a path.
    CommandHandler handle;
    CommandOptions options{};
    std::vector<RouteNaturalKey> natural_keys{};  ///< Beside those of `options`.
    std::optional<std::size_t> body_max{};
    std::optional<Duration> deadline{};
    /// Instead of the authenticated principal and its Idempotency-Key: for senders who sign what they send and name it
    /// in their own way. Such a route is open; this is its authentication.
    Identify identify{};
    /// What a repeat is told whose reply is no longer kept; none: IDEMPOTENCY_KEY_EXPIRED.
    std::function<Response(const Request&)> when_expired{};
};

/// Told of every reply that is given out again, with the command it belongs to. Runs on the event loop: it must not
/// block.
using OnReplay = std::function<void(const Identity&)>;

/// Turns requests into commands and answers into responses: Idempotency-Key, fingerprint, claim, replay, problems.
/// Copyable; the executor must outlive every route made of it.
class CommandRoutes {
public:
    explicit CommandRoutes(Executor& executor, Profile profile = Profile::classic, OnReplay on_replay = {})
        : executor_(&executor), profile_(profile), on_replay_(std::move(on_replay)) {}

    /// The route of a command. A finished reply that is in memory is replayed on the event loop, after
    /// authentication; everything else runs on a worker.
    [[nodiscard]] Route route(CommandRoute command) const;
    /// `GET …/{id}`: where a command stands, for its own tenant and caller only.
    [[nodiscard]] Route status_route() const;

    /// For whoever gives out a reply again without a route of ours.
    void replayed(const Identity& identity) const {
        if (on_replay_) on_replay_(identity);
    }

    /// What a failure of an execution is to a client: says what happened, what was and was not done, what to do.
    [[nodiscard]] Problem problem_of(const Outcome<Answer>& outcome) const;

private:
    Executor* executor_;
    Profile profile_;
    OnReplay on_replay_;
};

/// The command that a request asks for; the Problem if it asks for none: no key, a malformed one, a body that is no
/// JSON document.
[[nodiscard]] tl::expected<Command, Problem> command_of(const Request& request, std::string_view operation);

/// A reply as a response: the same bytes each time, marked where it is a repeat.
[[nodiscard]] Response response_of(const Reply& reply, bool replayed);

/// A problem as the reply of a Rejection.
[[nodiscard]] Reply reply_of(const Problem& problem, std::string_view correlation_id);

}  // namespace semel::http
