#pragma once

#include "semel/base/time.hpp"
#include "semel/http/admit.hpp"
#include "semel/http/body.hpp"
#include "semel/http/core.hpp"
#include "semel/http/head.hpp"
#include "semel/http/message.hpp"
#include "semel/http/workers.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace semel::http {

/// The server's side of one connection, without the connection: bytes, expired limits and finished
/// work come in; what to do next comes out. Never reads, writes or waits, so that every hostile
/// sequence of bytes can be tried on it alone. One thread.
class Conversation {
public:
    enum class Want : unsigned char {
        read,   ///< More bytes, into `room`; then `received`, or `ended`.
        write,  ///< `output` to be sent; then `written`.
        work,   ///< `exchange` to be handled; then `served`, or `drop` and `overdue`.
        close,  ///< Nothing more. If `rude`, the other side may still be sending: let it finish first, or
                ///< it loses our last answer.
    };

    /// `done` is what a worker calls when it has finished this connection's exchange.
    Conversation(Core& core, DateCache& date, std::string peer, std::function<void()> done);

    [[nodiscard]] Want next();
    /// Whose limit holds while `next` is being done, and since when.
    [[nodiscard]] Waiting waiting() const noexcept;
    /// Whether nothing of a request has come yet.
    [[nodiscard]] bool is_idle() const noexcept { return state_ == State::head && begin_ == end_; }
    [[nodiscard]] bool rude() const noexcept { return rude_ || begin_ != end_; }
    /// Requests that were answered.
    [[nodiscard]] std::size_t requests() const noexcept { return requests_; }
    /// When work that was not begun is dropped, and when work that was begun is given up.
    [[nodiscard]] Instant drop_at() const noexcept { return deadline_.at(); }
    [[nodiscard]] Instant overdue_at() const noexcept;

    [[nodiscard]] std::span<char> room();
    void received(std::size_t count) noexcept;
    /// The other side sends nothing more.
    void ended() noexcept;
    /// The limit of what it was waiting for ran out.
    void expired(Waiting waiting);

    /// Head and body, to be sent in one go. Valid until `written`.
    [[nodiscard]] std::array<std::string_view, 2> output() const noexcept { return {head_, body_}; }
    void written();

    [[nodiscard]] const std::shared_ptr<Exchange>& exchange() const noexcept { return exchange_; }
    void served();
    /// The deadline passed. False if the work was begun: then there is nothing to do but to wait.
    [[nodiscard]] bool drop();
    void overdue();

private:
    enum class State : unsigned char { head, body, working, continuing, answering, closed };

    [[nodiscard]] std::string_view pending() const noexcept {
        return std::string_view(buffer_).substr(begin_, end_ - begin_);
    }
    void begin_request();
    void on_scan(HeadScan::Verdict verdict);
    void on_head();
    void on_body();
    void dispatch();
    void dismiss(Dismissal dismissal);
    void refuse(const Problem& problem);
    void answer(Response response);
    void not_started();
    void leave_exchange();

    Core& core_;
    DateCache& date_;
    std::string peer_;
    std::function<void()> done_;
    std::shared_ptr<Exchange> exchange_;

    State state_ = State::head;
    std::string buffer_;
    std::size_t begin_ = 0;  // What has come and is not used up lies between the two.
    std::size_t end_ = 0;
    std::size_t requests_ = 0;
    bool ended_ = false;
    bool rude_ = false;
    bool closes_ = false;

    HeadScan scan_{};
    HeadFacts facts_{};
    Admission admission_{};
    BodyReader reader_{};
    std::string correlation_;
    Deadline deadline_{};              // Of the request that is being worked on.
    std::optional<Response> early_{};  // An answer that only waits for the body to be read.

    Response answer_{};
    std::string head_;
    std::string_view body_;
};

}  // namespace semel::http
