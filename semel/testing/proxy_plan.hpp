#pragma once

#include "semel/base/time.hpp"

#include <cstdint>

namespace semel::testing {

/// One mishap of a FaultProxy: when it happens, and what. The named ones below are what tests
/// usually want; the fields allow the rest.
struct ProxyPlan {
    enum class Moment : unsigned char {
        never,
        commit_seen,      ///< COMMIT has come from the client; the server does not get it.
        commit_sent,      ///< COMMIT, with its Sync, is on its way to the server; its answer is held.
        commit_answered,  ///< The server has answered COMMIT; the answer is held.
        message,          ///< The client's nth message has been passed on; none after it.
    };
    enum class Action : unsigned char {
        cut,    ///< Closes. What is held is lost.
        stall,  ///< Passes nothing on, closes nothing, until released. Then all goes on its way,
                ///< even if the sender is long gone.
    };
    enum class Side : unsigned char {
        client,  ///< Cut: the client's connection only. Stall: nothing more reaches the client.
        server,  ///< Cut: the server's connection only. Stall: nothing more reaches the server.
        both,
    };
    enum class Way : unsigned char {
        reset,   ///< RST: the other end gets an error at once, unsent bytes are lost.
        finish,  ///< FIN: the other end reads what was sent, then the end of the stream.
    };

    Moment moment = Moment::never;
    Action action = Action::cut;
    Side side = Side::both;
    Way client_way = Way::reset;
    Way server_way = Way::finish;  ///< So that what was passed on does arrive.
    std::uint64_t message = 0;     ///< Of Moment::message: which; the start-up message is the first.
    /// The action follows the moment by a random time, up to this.
    Duration delay_max = Duration::zero();
    /// Lets answers through while the delay runs: the client may or may not get the one to COMMIT.
    bool answers_pass = false;

    /// Everything passes.
    [[nodiscard]] static constexpr ProxyPlan pass() noexcept { return {}; }
    /// The server never sees COMMIT: it rolls back.
    [[nodiscard]] static constexpr ProxyPlan cut_before_commit(Way way = Way::reset) noexcept {
        return at(Moment::commit_seen, Action::cut, Side::both, way);
    }
    /// The server gets COMMIT; the client is cut off without waiting for what it says.
    [[nodiscard]] static constexpr ProxyPlan cut_after_commit_sent(Way way = Way::reset) noexcept {
        return at(Moment::commit_sent, Action::cut, Side::both, way);
    }
    /// The server has answered COMMIT; the client is cut off instead of hearing it.
    [[nodiscard]] static constexpr ProxyPlan swallow_commit_answer(Way way = Way::reset) noexcept {
        return at(Moment::commit_answered, Action::cut, Side::both, way);
    }
    /// The server loses its client instead of getting COMMIT; the client waits for nobody.
    [[nodiscard]] static constexpr ProxyPlan cut_server_before_commit() noexcept {
        return at(Moment::commit_seen, Action::cut, Side::server, Way::reset);
    }
    /// The client is cut off; the server does not learn of it and keeps the transaction open.
    [[nodiscard]] static constexpr ProxyPlan cut_client_before_commit(Way way = Way::reset) noexcept {
        return at(Moment::commit_seen, Action::cut, Side::client, way);
    }
    /// Side::server holds COMMIT back, Side::client its answer, Side::both COMMIT and all answers.
    [[nodiscard]] static constexpr ProxyPlan stall_at_commit(Side side) noexcept {
        return at(Moment::commit_seen, Action::stall, side, Way::reset);
    }
    [[nodiscard]] static constexpr ProxyPlan cut_after_message(std::uint64_t n, Way way = Way::reset) noexcept {
        ProxyPlan plan = at(Moment::message, Action::cut, Side::both, way);
        plan.message = n;
        return plan;
    }
    [[nodiscard]] static constexpr ProxyPlan stall_after_message(std::uint64_t n, Side side = Side::both) noexcept {
        ProxyPlan plan = at(Moment::message, Action::stall, side, Way::reset);
        plan.message = n;
        return plan;
    }

    /// The same, with a random delay before the action.
    [[nodiscard]] constexpr ProxyPlan delayed(Duration up_to) const noexcept {
        ProxyPlan plan = *this;
        plan.delay_max = up_to;
        return plan;
    }

private:
    [[nodiscard]] static constexpr ProxyPlan at(Moment moment, Action action, Side side, Way way) noexcept {
        ProxyPlan plan;
        plan.moment = moment;
        plan.action = action;
        plan.side = side;
        plan.client_way = way;
        return plan;
    }
};

/// To which conversations a plan applies. The narrower one wins.
enum class ProxyScope : unsigned char {
    next_connection,   ///< The next one to start, for all of its life.
    next_commit,       ///< The next COMMIT on any connection, once. Only for moments of a commit.
    every_connection,  ///< All, present and future, until replaced.
};

/// What has happened so far.
struct ProxyCounters {
    std::uint64_t connections = 0;        ///< Accepted, the ignored ones too.
    std::uint64_t frontend_messages = 0;  ///< Passed on to the server.
    std::uint64_t backend_messages = 0;   ///< Come from the server.
    std::uint64_t commits_seen = 0;
    std::uint64_t cancels_seen = 0;
    std::uint64_t cuts = 0;    ///< Plans that cut.
    std::uint64_t stalls = 0;  ///< Plans that stalled.
};

}  // namespace semel::testing
