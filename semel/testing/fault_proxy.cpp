#include "semel/testing/fault_proxy.hpp"

#include "semel/testing/proxy_connection.hpp"
#include "semel/testing/temp_dir.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace semel::testing {
namespace {

sockaddr_in loopback(int port) noexcept {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

Result<FileDescriptor> listen_on(int port) {
    FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in address = loopback(port);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), SOMAXCONN) != 0)
        return fail(system_error("listen on port " + std::to_string(port)));
    return socket;
}

void send_at_once(const FileDescriptor& socket) noexcept {
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

FileDescriptor connect_to(int port) {
    FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    send_at_once(socket);
    const sockaddr_in address = loopback(port);
    // A refusal shows up when the socket is read.
    static_cast<void>(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
    return socket;
}

}  // namespace

/// The proxy's thread, which owns sockets and connections.
class FaultProxy::Loop {
public:
    Loop(FileDescriptor listener, int port, int upstream_port, std::uint64_t seed)
        : port_(port), book_(seed), listener_(std::move(listener)), upstream_port_(upstream_port) {
        SEMEL_ASSERT(wake_.is_open());
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    ~Loop() {
        thread_.request_stop();
        wake();
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] detail::ProxyBook& book() noexcept { return book_; }

    void refuse(bool refuse) {
        in_loop([&] {
            if (refuse) listener_.reset();
            if (refuse || listener_.is_open()) return;
            auto opened = listen_on(port_);
            SEMEL_ASSERT(opened && "the proxy's port was taken while it refused connections");
            listener_ = *std::move(opened);
        });
    }
    void ignore(bool ignore) {
        in_loop([&] { ignoring_ = ignore; });
    }
    void redirect(int upstream_port) {
        in_loop([&] { upstream_port_ = upstream_port; });
    }
    void for_each_connection(const std::function<void(detail::ProxyConnection&)>& action) {
        in_loop([&] { std::for_each(connections_.begin(), connections_.end(), action); });
    }

private:
    /// Runs `change` in the thread, between two of its steps, and returns when it is done.
    void in_loop(const std::function<void()>& change) {
        std::unique_lock lock(mutex_);
        changes_.push_back(&change);
        wake();
        changed_.wait(lock, [&] { return std::find(changes_.begin(), changes_.end(), &change) == changes_.end(); });
    }
    void wake() const noexcept { static_cast<void>(::eventfd_write(wake_.get(), 1)); }

    void run(const std::stop_token& stop) {
        std::vector<pollfd> polled;
        while (!stop.stop_requested()) {
            polled.assign({{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                           {.fd = listener_.get(), .events = POLLIN, .revents = 0}});
            Instant until = Instant::max();
            for (const auto& connection : connections_) {
                polled.push_back(connection.poll_client());
                polled.push_back(connection.poll_server());
                until = std::min(until, connection.wake_at());
            }
            wait(polled, until);
            if (polled[0].revents != 0) {
                eventfd_t ignored = 0;
                ::eventfd_read(wake_.get(), &ignored);
                apply_changes();
            }
            const Instant now = system_clock().now();
            auto event = polled.begin() + 2;
            for (auto& connection : connections_) {
                connection.step(now, event[0].revents, event[1].revents);
                event += 2;
            }
            connections_.remove_if([](const auto& connection) { return connection.over(); });
            if (polled[1].revents != 0) accept_all();
        }
    }

    static void wait(std::vector<pollfd>& polled, Instant until) {
        timespec limit{};
        if (until != Instant::max()) {
            const auto left = std::max(Duration::zero(), until - system_clock().now());
            limit.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
            limit.tv_nsec = (left - std::chrono::floor<std::chrono::seconds>(left)).count();
        }
        if (::ppoll(polled.data(), polled.size(), until == Instant::max() ? nullptr : &limit, nullptr) < 0)
            for (pollfd& each : polled) each.revents = 0;
    }

    void apply_changes() {
        std::unique_lock lock(mutex_);
        while (!changes_.empty()) {
            const auto* change = changes_.front();
            lock.unlock();
            (*change)();
            lock.lock();
            changes_.erase(changes_.begin());
        }
        changed_.notify_all();
    }

    void accept_all() {
        while (listener_.is_open()) {
            FileDescriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            if (!client.is_open()) return;
            send_at_once(client);
            connections_.emplace_back(std::move(client), ignoring_ ? FileDescriptor() : connect_to(upstream_port_),
                                      book_);
            book_.count(&ProxyCounters::connections);
        }
    }

    const int port_;
    detail::ProxyBook book_;
    FileDescriptor wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<const std::function<void()>*> changes_;
    // Of the thread alone.
    FileDescriptor listener_;
    int upstream_port_;
    bool ignoring_ = false;
    std::list<detail::ProxyConnection> connections_;
    std::jthread thread_;  // The last member: it ends before what it uses.
};

Result<std::unique_ptr<FaultProxy>> FaultProxy::start(int upstream_port, std::uint64_t seed) {
    const int port = SEMEL_TRY(free_port());
    FileDescriptor listener = SEMEL_TRY(listen_on(port));
    return std::unique_ptr<FaultProxy>(
        new FaultProxy(std::make_unique<Loop>(std::move(listener), port, upstream_port, seed)));
}

FaultProxy::FaultProxy(std::unique_ptr<Loop> loop) noexcept : loop_(std::move(loop)) {}
FaultProxy::~FaultProxy() = default;

int FaultProxy::port() const noexcept { return loop_->port(); }
std::string FaultProxy::url(std::string_view database, std::string_view user) const {
    return "postgresql://" + std::string(user) + "@127.0.0.1:" + std::to_string(port()) + "/" + std::string(database);
}

void FaultProxy::set_plan(const ProxyPlan& plan, ProxyScope scope) {
    SEMEL_ASSERT(scope != ProxyScope::next_commit || plan.moment != ProxyPlan::Moment::message);
    loop_->book().set_plan(plan, scope);
}
void FaultProxy::clear_plans() { loop_->book().clear_plans(); }

void FaultProxy::release() {
    loop_->for_each_connection([](detail::ProxyConnection& connection) { connection.release(); });
}
void FaultProxy::cut_all() {
    const ProxyPlan at_once;  // Only its sides and ways matter: both sides, the client by RST.
    loop_->for_each_connection([&](detail::ProxyConnection& connection) { connection.cut(at_once); });
}

void FaultProxy::refuse_connections(bool refuse) { loop_->refuse(refuse); }
void FaultProxy::accept_and_ignore(bool ignore) { loop_->ignore(ignore); }
void FaultProxy::redirect(int upstream_port) { loop_->redirect(upstream_port); }

ProxyCounters FaultProxy::counters() const { return loop_->book().counters(); }
bool FaultProxy::await(const std::function<bool(const ProxyCounters&)>& satisfied, Duration limit) const {
    return loop_->book().await(satisfied, limit);
}

}  // namespace semel::testing
