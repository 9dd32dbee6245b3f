#include "semel/retry/coroutine.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <memory>

namespace semel {
namespace {

namespace asio = boost::asio;

/// One wait that anyone may break off, from any thread. Its members are touched only on its
/// strand: a stop finds the timer either running, and cancels it, or not yet started, and then
/// the start sees it. Shared, since a stop may be under way when the wait is over.
class Nap : public std::enable_shared_from_this<Nap> {
public:
    Nap(const asio::any_io_executor& executor, Duration ahead)
        : strand_(asio::make_strand(executor)), timer_(strand_, ahead) {}

    void stop() {
        asio::post(strand_, [self = shared_from_this()] {
            self->stopped_ = true;
            self->timer_.cancel();
        });
    }

    /// Hands the Wake to the handler, on the handler's own executor, when the wait is over.
    template <class Handler>
    void start(Handler handler) {
        if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
            slot.assign([self = shared_from_this()](asio::cancellation_type) { self->stop(); });
        }
        asio::dispatch(strand_, [self = shared_from_this(), handler = std::move(handler)]() mutable {
            if (self->stopped_) return self->finish(std::move(handler));
            asio::steady_timer& timer = self->timer_;
            timer.async_wait([self = std::move(self), handler = std::move(handler)](boost::system::error_code) mutable {
                self->finish(std::move(handler));
            });
        });
    }

private:
    template <class Handler>
    void finish(Handler handler) {
        const auto executor = asio::get_associated_executor(handler, strand_);
        const Wake wake = stopped_ ? Wake::stopped : Wake::timeout;
        asio::post(executor, [handler = std::move(handler), wake]() mutable { std::move(handler)(wake); });
    }

    asio::strand<asio::any_io_executor> strand_;
    asio::steady_timer timer_;
    bool stopped_ = false;
};

}  // namespace

asio::awaitable<Wake> asio_sleep(Clock& clock, Instant until, const std::stop_token& stop) {
    const Duration ahead = std::max(Duration::zero(), until - clock.now());
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto nap = std::make_shared<Nap>(executor, ahead);
    const std::stop_callback on_stop(stop, [nap] { nap->stop(); });
    // A plain pointer: GCC 12 destroys what a lambda inside a co_await expression captures twice.
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(Wake)>(
        [waiting = nap.get()](auto handler) { waiting->start(std::move(handler)); }, asio::use_awaitable);
}

}  // namespace semel
