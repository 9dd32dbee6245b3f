#include "semel/testing/proxy_connection.hpp"

#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace semel::testing::detail {
namespace {

using Moment = ProxyPlan::Moment;
using Side = ProxyPlan::Side;

/// Answers held for a later release; more than this stays with the server.
constexpr std::size_t held_max = 4 * 1024 * 1024;

}  // namespace

void ProxyEnd::read() {
    if (!socket.is_open() || read_ended || in.size() >= buffer_max) return;
    std::array<char, buffer_max> buffer;
    const ssize_t got = ::recv(socket.get(), buffer.data(), buffer_max - in.size(), MSG_DONTWAIT);
    if (got > 0) in.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) read_ended = true;
}

void ProxyEnd::write() {
    if (!socket.is_open()) out.clear();
    while (!out.empty()) {
        const ssize_t sent = ::send(socket.get(), out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) return;
        // Nobody is there to read: what is meant for them is lost.
        out.erase(0, sent < 0 ? out.size() : static_cast<std::size_t>(sent));
    }
    if (!socket.is_open() || !finishing) return;
    if (!finished) ::shutdown(socket.get(), SHUT_WR);
    finished = true;
    // Closing with unread bytes would send RST: the socket stays until the other side ends too.
    if (read_ended) socket.reset();
}

void ProxyEnd::reset() noexcept {
    if (!socket.is_open()) return;
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket.reset();
    in.clear();
    out.clear();
}

short ProxyEnd::events() const noexcept {
    int events = 0;
    if (!read_ended && in.size() < buffer_max) events |= POLLIN;
    if (!out.empty()) events |= POLLOUT;
    return static_cast<short>(events);
}

ProxyConnection::ProxyConnection(FileDescriptor client, FileDescriptor server, ProxyBook& book)
    : book_(&book), ignored_(!server.is_open()) {
    client_.socket = std::move(client);
    server_.socket = std::move(server);
}

// A socket without wishes is left out: it would report its hang-up again and again.
pollfd ProxyConnection::poll_client() const noexcept {
    const short events = ignored_ ? static_cast<short>(POLLRDHUP) : client_.events();
    return {.fd = events != 0 ? client_.socket.get() : -1, .events = events, .revents = 0};
}
pollfd ProxyConnection::poll_server() const noexcept {
    const short events = server_.events();
    return {.fd = events != 0 ? server_.socket.get() : -1, .events = events, .revents = 0};
}

void ProxyConnection::step(Instant now, short client_events, short server_events) {
    if (ignored_) {
        if (client_events != 0) client_.socket.reset();
        return;
    }
    if (client_events != 0) client_.read();
    if (server_events != 0) server_.read();
    // Until nothing moves: no event of a socket would tell that room has become free here.
    const auto amount = [this] {
        return client_.in.size() + client_.out.size() + server_.in.size() + server_.out.size();
    };
    for (std::size_t before = SIZE_MAX; before != amount();) {
        before = amount();
        pass_frontend();
        pass_backend();
        end_streams();
        server_.write();
        client_.write();
    }
    if (committing_ && committing_->moment == Moment::commit_sent && !sync_follows_ && server_.out.empty())
        arm(*committing_);
    // The delay starts when the server has all that was passed on.
    if (armed_ && fire_at_ == Instant::max() && server_.out.empty())
        fire_at_ = now + book_->random_part_of(armed_->delay_max);
    if (now >= fire_at_) {
        fire();
        step(now, 0, 0);
    }
}

void ProxyConnection::pass_frontend() {
    if (cut_) client_.in.clear();
    while (!hold_frontend_ && server_.out.size() < ProxyEnd::buffer_max) {
        const auto piece = from_client_.look(client_.in);
        if (!piece || !pass_one_frontend(*piece)) return;
        client_.in.erase(0, piece->bytes.size());
    }
}

/// False: the piece stays where it is.
bool ProxyConnection::pass_one_frontend(const MessageScanner::Piece& piece) {
    if (!is_for_server(piece)) {
        from_client_.consume(piece);
        return true;
    }
    if (piece.whole() && piece.type > wire::cancel_request && !judged_ && detector_.is_commit(piece) &&
        !may_pass_commit())
        return false;
    judged_ = false;
    if (server_.socket.is_open()) server_.out.append(piece.bytes);
    from_client_.consume(piece);
    if (piece.last) after_message(piece);
    return true;
}

/// False: it was for us, and is answered. Takes note of how a conversation starts.
bool ProxyConnection::is_for_server(const MessageScanner::Piece& piece) {
    if (piece.type == wire::ssl_request || piece.type == wire::gss_request) {
        client_.out.push_back('N');
        return false;
    }
    if (piece.type == wire::startup && piece.first) own_plan_ = book_->take_for_connection();
    if (piece.type == wire::cancel_request) book_->count(&ProxyCounters::cancels_seen);
    return true;
}

bool ProxyConnection::may_pass_commit() {
    judged_ = true;
    book_->count(&ProxyCounters::commits_seen);
    const ProxyPlan plan = own_plan_ ? *own_plan_ : book_->take_for_commit();
    if (plan.moment == Moment::commit_seen) {
        hold_frontend_ = true;
        arm(plan);
        return false;
    }
    if (plan.moment == Moment::commit_sent || plan.moment == Moment::commit_answered) {
        committing_ = plan;
        sync_follows_ = true;
        ready_before_commit_ = syncs_;
    }
    return true;
}

void ProxyConnection::after_message(const MessageScanner::Piece& piece) {
    ++messages_;
    book_->count(&ProxyCounters::frontend_messages);
    if (piece.type == 'S' || piece.type == 'Q' || piece.type == 'F') {
        ++syncs_;
        sync_follows_ = false;
    }
    const ProxyPlan plan = own_plan_ ? *own_plan_ : book_->for_every_connection();
    if (plan.moment == Moment::message && plan.message == messages_) {
        hold_frontend_ = true;
        arm(plan);
    }
}

void ProxyConnection::pass_backend() {
    if (cut_) server_.in.clear();
    while (held_.size() < held_max && client_.out.size() < ProxyEnd::buffer_max) {
        const auto piece = from_server_.look(server_.in);
        if (!piece) return;
        const bool of_commit = committing_ && !committing_->answers_pass && readies_ >= ready_before_commit_;
        if (hold_backend_ || of_commit) {
            hold_backend_ = true;
            held_.append(piece->bytes);
        } else if (client_.socket.is_open()) {
            client_.out.append(piece->bytes);
        }
        from_server_.consume(*piece);
        if (piece->last) {
            book_->count(&ProxyCounters::backend_messages);
            if (piece->type == 'Z') ++readies_;
        }
        if (committing_ && committing_->moment == Moment::commit_answered && readies_ > ready_before_commit_)
            arm(*committing_);
        server_.in.erase(0, piece->bytes.size());
    }
}

/// Passes the end of a stream on, once everything before it has been.
void ProxyConnection::end_streams() {
    if (cut_) {
        // An end that was not cut knows nothing; it goes when its other side does.
        if (client_.read_ended) client_.finish();
        if (server_.read_ended) server_.finish();
        return;
    }
    if (client_.read_ended && !hold_frontend_ && !from_client_.look(client_.in)) server_.finish();
    if (server_.read_ended && !from_server_.look(server_.in)) {
        // The moment that a plan waits for will not come any more: act now.
        if (committing_) arm(*committing_);
        if (armed_ || hold_backend_) return;
        client_.finish();
        server_.finish();
    }
}

/// The moment of this plan has come.
void ProxyConnection::arm(const ProxyPlan& plan) {
    armed_ = plan;
    if (committing_ && !plan.answers_pass) hold_backend_ = true;
    committing_.reset();
}

void ProxyConnection::fire() {
    const ProxyPlan plan = *armed_;
    armed_.reset();
    fire_at_ = Instant::max();
    if (plan.action == ProxyPlan::Action::cut) {
        cut(plan);
        return;
    }
    hold_frontend_ = plan.side != Side::client;
    hold_backend_ = plan.side != Side::server;
    if (!hold_backend_) deliver_held();
    book_->count(&ProxyCounters::stalls);
}

void ProxyConnection::deliver_held() {
    client_.out.append(held_);
    held_.clear();
}

void ProxyConnection::release() {
    if (armed_ || committing_) return;  // Not stalled: still on the way to its moment.
    hold_frontend_ = false;
    hold_backend_ = false;
    deliver_held();
}

void ProxyConnection::cut(const ProxyPlan& plan) {
    cut_ = true;
    armed_.reset();
    committing_.reset();
    fire_at_ = Instant::max();
    held_.clear();
    const auto close = [](ProxyEnd& end, ProxyPlan::Way way) {
        way == ProxyPlan::Way::reset ? end.reset() : end.finish();
    };
    if (plan.side != Side::server) close(client_, plan.client_way);
    if (plan.side != Side::client) close(server_, plan.server_way);
    book_->count(&ProxyCounters::cuts);
}

}  // namespace semel::testing::detail
