#include "semel/http/conversation.hpp"

#include "semel/base/id.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/write_head.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace semel::http {
namespace {

/// Most heads fit; an idle connection costs little more than this.
constexpr std::size_t room_for_head = 4 * 1024;
constexpr std::size_t room_for_body = 16 * 1024;
/// A body that short is read and dropped, so that the connection outlives a refusal.
constexpr std::uint64_t dropped_body_max = 64 * 1024;

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Conversation::Conversation(Core& core, DateCache& date, std::string peer, std::function<void()> done)
    : core_(core),
      date_(date),
      peer_(std::move(peer)),
      done_(std::move(done)),
      exchange_(std::make_shared<Exchange>()) {
    exchange_->done = done_;
}

Conversation::Want Conversation::next() {
    for (;;) {
        switch (state_) {
            case State::head: {
                const ServerOptions& options = core_.options;
                const auto verdict = scan_.scan(
                    pending(),
                    {.first_line = options.request_line_max, .head = options.head_max, .fields = options.fields_max});
                if (verdict == HeadScan::Verdict::more) {
                    // Half a request and then nothing: there is nobody left to answer.
                    if (ended_ || (is_idle() && requests_ > 0 && core_.draining.load(std::memory_order_relaxed))) {
                        state_ = State::closed;
                        return Want::close;
                    }
                    return Want::read;
                }
                on_scan(verdict);
                break;
            }
            case State::body:
                on_body();
                if (state_ == State::body) return Want::read;
                break;
            case State::working: return Want::work;
            case State::continuing:
            case State::answering: return Want::write;
            case State::closed: return Want::close;
        }
    }
}

Waiting Conversation::waiting() const noexcept {
    switch (state_) {
        case State::head:
            if (begin_ != end_) return Waiting::head;
            return requests_ == 0 ? Waiting::first_byte : Waiting::idle;
        case State::body: return Waiting::body;
        case State::working: return Waiting::executor;
        case State::continuing:
        case State::answering: return Waiting::write;
        case State::closed: return Waiting::farewell;
    }
    return Waiting::nothing;
}

Instant Conversation::overdue_at() const noexcept {
    return deadline_.is_never() ? Instant::max() : deadline_.at() + core_.options.overrun;
}

std::span<char> Conversation::room() {
    const std::size_t wanted = state_ == State::body ? room_for_body : room_for_head;
    if (begin_ == end_) begin_ = end_ = 0;
    if (buffer_.size() - end_ < wanted / 2 && begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    // Bounded: the scan and the reader refuse before they leave more than their limits in here.
    if (buffer_.size() - end_ < wanted / 2) buffer_.resize(end_ + wanted);
    return std::span(buffer_).subspan(end_);
}

void Conversation::received(std::size_t count) noexcept { end_ += count; }

void Conversation::ended() noexcept {
    ended_ = true;
    if (state_ == State::body) {
        reader_.end();
        rude_ = false;
    }
}

void Conversation::expired(Waiting waiting) {
    core_.counters.on_timeout(waiting);
    switch (waiting) {
        case Waiting::head:
            begin_request();
            return refuse(Problem(problems::request_timeout, "The head of the request did not arrive in time."));
        case Waiting::body:
            return refuse(Problem(problems::request_timeout, "The body of the request did not arrive in time."));
        default: state_ = State::closed;
    }
}

void Conversation::written() {
    body_ = {};
    if (state_ == State::continuing) {
        state_ = State::body;
        return;
    }
    // An idle connection holds on to no large body, neither theirs nor ours.
    answer_ = {};
    if (exchange_->request.body.capacity() > room_for_body) exchange_->request.body = {};
    ++requests_;
    state_ = closes_ ? State::closed : State::head;
    scan_ = {};
}

/// Makes the exchange ready for the next request; its strings keep their memory.
void Conversation::begin_request() {
    Exchange& exchange = *exchange_;
    Request& request = exchange.request;
    request.method.clear();
    request.target.clear();
    request.path.clear();
    request.query.clear();
    request.variables.clear();
    request.headers.clear();
    request.body.clear();
    request.correlation_id.clear();
    request.retry = {};
    request.peer = peer_;
    request.who = {};
    correlation_.clear();
    facts_ = {};
    admission_ = {};
    early_.reset();
}

void Conversation::on_scan(HeadScan::Verdict verdict) {
    if (verdict == HeadScan::Verdict::complete) return on_head();
    begin_request();
    switch (verdict) {
        case HeadScan::Verdict::line_too_long: return refuse(problems::uri_too_long);
        case HeadScan::Verdict::too_large: return refuse(problems::headers_too_large);
        default:
            return refuse(Problem(problems::malformed_request,
                                  "Lines end with CRLF and hold neither control characters nor folded fields."));
    }
}

void Conversation::on_head() {
    begin_request();
    const std::string_view head = pending().substr(scan_.begin(), scan_.end() - scan_.begin());
    Request& request = exchange_->request;
    const auto facts = parse_request_head(head, request);
    begin_ += scan_.end();
    if (!facts) return refuse(facts.error());
    facts_ = *facts;
    auto admission = admit(core_, facts_, core_.clock.now(), request);
    // A handler may change the request; these two must stay.
    correlation_ = request.correlation_id;
    facts_.to_head = request.method == "HEAD";
    if (!admission) return dismiss(std::move(admission).error());
    admission_ = *admission;
    if (facts_.framing == Framing::none) return dispatch();
    reader_ = BodyReader(facts_, admission_.body_max);
    state_ = State::body;
    if (facts_.expects_continue && begin_ == end_) {
        state_ = State::continuing;
        head_.assign(go_on);
    }
}

void Conversation::on_body() {
    begin_ += reader_.feed(pending(), exchange_->request.body);
    switch (reader_.state()) {
        case BodyReader::State::more: return;
        case BodyReader::State::done:
            if (early_) return answer(*std::exchange(early_, std::nullopt));
            return dispatch();
        case BodyReader::State::too_large: return refuse(problems::payload_too_large);
        case BodyReader::State::malformed:
            if (ended_) {
                state_ = State::closed;
                return;
            }
            return refuse(Problem(problems::malformed_request, "The chunks of the body are malformed."));
    }
}

/// The request is complete.
void Conversation::dispatch() {
    Request& request = exchange_->request;
    const Route& route = *admission_.route;
    if (route.at_once) {
        if (auto response = run_at_once(core_, route, request)) return answer(*std::move(response));
    }
    if (!route.handle) return answer(handler_failed(core_, request, "the route did not answer at once"));
    const Duration remaining = request.retry.deadline.remaining(core_.clock.now());
    if (remaining <= Duration::zero()) return not_started();
    const auto refused = core_.load.refuse(core_.busy.load(std::memory_order_relaxed),
                                           core_.queued.load(std::memory_order_relaxed), remaining);
    if (refused) {
        Counters::up(core_.counters.shed);
        return answer(Problem(problems::overloaded, "Nothing was done. Try again later.")
                          .with_retry_after(*refused)
                          .to_response(correlation_));
    }
    exchange_->route = &route;
    exchange_->progress.store(Exchange::Progress::waiting);
    deadline_ = request.retry.deadline;
    state_ = State::working;
}

/// The deadline passed before the handler ran. With Retry-After, since nothing was done.
void Conversation::not_started() {
    Counters::up(core_.counters.queue);
    answer(Problem(problems::deadline_exceeded, "The deadline passed before the request was begun; nothing was done.")
               .with_status(503)
               .with_retry_after(core_.load.usual())
               .to_response(correlation_));
}

void Conversation::served() {
    if (exchange_->end == Exchange::End::late) return not_started();
    answer(std::move(exchange_->response));
}

/// The worker has the old one, which is out of reach from here on.
void Conversation::leave_exchange() {
    exchange_ = std::make_shared<Exchange>();
    exchange_->done = done_;
}

bool Conversation::drop() {
    if (!exchange_->settle(Exchange::Progress::dropped)) return false;
    leave_exchange();
    not_started();
    return true;
}

void Conversation::overdue() {
    core_.counters.on_timeout(Waiting::executor);
    leave_exchange();
    facts_.keep_alive = false;
    answer(Problem(problems::deadline_exceeded,
                   "The deadline passed while the request was being handled. It may still be done: ask again with the "
                   "same Idempotency-Key.")
               .to_response(correlation_));
}

/// Answers by the head alone. A short body is read first, so that the connection can stay.
void Conversation::dismiss(Dismissal dismissal) {
    if (!dismissal.well_formed) Counters::up(core_.counters.malformed);
    const bool droppable =
        facts_.framing == Framing::none ||
        (facts_.framing == Framing::length && facts_.length <= dropped_body_max && !facts_.expects_continue);
    if (!dismissal.well_formed || !droppable) {
        facts_.keep_alive = false;
        rude_ = true;
        return answer(std::move(dismissal.response));
    }
    if (facts_.framing == Framing::none) return answer(std::move(dismissal.response));
    early_ = std::move(dismissal.response);
    reader_ = BodyReader(facts_, dropped_body_max);
    state_ = State::body;
}

/// Nothing that follows on this connection can be trusted or awaited.
void Conversation::refuse(const Problem& problem) {
    if (problem.status != problems::request_timeout.status) Counters::up(core_.counters.malformed);
    facts_.keep_alive = false;
    rude_ = true;
    if (correlation_.empty()) correlation_ = new_uuid().text();
    answer(problem.to_response(correlation_));
}

void Conversation::answer(Response response) {
    answer_ = is_sendable(response) ? std::move(response)
                                    : handler_failed(core_, exchange_->request, "the answer cannot be sent as it is");
    Counters::up(core_.counters.requests);
    closes_ = !facts_.keep_alive || requests_ + 1 >= core_.options.requests_per_connection_max ||
              core_.draining.load(std::memory_order_relaxed);
    head_.clear();
    write_response_head(
        head_, answer_,
        {.keep_alive = !closes_, .http11 = facts_.http11, .date = date_.text(), .correlation = correlation_});
    const bool bodiless = facts_.to_head || answer_.status == 204 || answer_.status == 304;
    body_ = bodiless ? std::string_view() : answer_.content();
    state_ = State::answering;
}

}  // namespace semel::http
