#include "semel/consumer/consumer.hpp"

#include "semel/base/failpoint.hpp"
#include "semel/base/log.hpp"
#include "semel/base/mutant.hpp"

#include <utility>

namespace semel {

Result<std::unique_ptr<Consumer>> Consumer::create(Database& database, Source& source, ConsumerOptions options,
                                                   ConsumerHandler handler) {
    SEMEL_TRY(check(options.rules));
    if (!handler) return fail(Fault::rejected, "consumer: there is no handler");
    if (options.handle_limit <= Duration::zero())
        return fail(Fault::rejected, "consumer: handle_limit must be more than zero");
    auto handling = SEMEL_TRY(detail::Handling::create(database, std::move(options), std::move(handler)));
    auto redriving = SEMEL_TRY(detail::Redriving::create(database, *handling));
    return std::unique_ptr<Consumer>(new Consumer(database, source, std::move(handling), std::move(redriving)));
}

void Consumer::start() {
    SEMEL_ASSERT(!thread_.joinable() && "the consumer runs already");
    for (std::size_t i = 0; i < handling_->options().rules.workers; ++i)
        workers_.emplace_back([this](const std::stop_token& stop) { run_worker(stop); });
    redriver_ =
        std::jthread([this] { redriving_->run_every(handling_->options().rules.redrive_poll, stopping_.get_token()); });
    thread_ = std::jthread([this] { run(stopping_.get_token()); });
}

void Consumer::stop() {
    if (thread_.joinable()) {
        stopping_.request_stop();
        source_->wake();
        thread_.join();
        redriver_.join();
        for (std::jthread& worker : workers_) worker.request_stop();
        workers_.clear();
    } else if (std::exchange(stepped_, false)) {
        drain();
    }
}

void Consumer::run(const std::stop_token& stop) {
    for (;;) {
        collect();
        if (stop.stop_requested()) machine_.drain();
        const ConsumerAction action = machine_.next(now());
        if (std::holds_alternative<consumer_action::Finished>(action)) return;
        if (auto job = job_of(action)) {
            {
                const std::lock_guard guard(mutex_);
                jobs_.push_back(*std::move(job));
            }
            offered_.notify_one();
        } else {
            act(action, stop);
        }
    }
}

void Consumer::run_worker(const std::stop_token& stop) {
    for (;;) {
        std::unique_lock lock(mutex_);
        if (!offered_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
        const Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        Attempted attempted = work(job, stopping_.get_token());
        lock.lock();
        results_.push_back({.tag = job.delivery->tag, .attempted = std::move(attempted)});
        lock.unlock();
        ended_.notify_one();
        source_->wake();
    }
}

void Consumer::run_until_idle() {
    SEMEL_ASSERT(!thread_.joinable() && "the consumer has threads of its own");
    stepped_ = true;
    for (;;) {
        const ConsumerAction action = machine_.next(now());
        if (const auto job = job_of(action)) {
            if (SEMEL_MUTANT("acknowledge_before_commit")) acknowledge({{job->delivery->tag}});
            const Attempted attempted = work(*job, {});
            machine_.worked(job->delivery->tag, attempted, now());
        } else if (const auto* asked = std::get_if<consumer_action::Receive>(&action)) {
            const std::uint64_t before = received_;
            receive({.limit = asked->limit, .until = now(), .source_away = asked->source_away}, {});
            if (received_ == before) return;
        } else {
            act(action, {});
        }
    }
}

void Consumer::drain() {
    machine_.drain();
    for (;;) {
        const ConsumerAction action = machine_.next(now());
        if (std::holds_alternative<consumer_action::Finished>(action)) return;
        act(action, {});
    }
}

void Consumer::collect() {
    std::vector<Ended> ended;
    {
        const std::lock_guard guard(mutex_);
        ended.swap(results_);
    }
    for (const Ended& one : ended) machine_.worked(one.tag, one.attempted, now());
}

std::optional<Consumer::Job> Consumer::job_of(const ConsumerAction& action) const {
    if (const auto* one = std::get_if<consumer_action::Handle>(&action))
        return Job{.work = *one, .delivery = &machine_.delivery(one->tag), .last_error = machine_.last_error(one->tag)};
    if (const auto* one = std::get_if<consumer_action::Park>(&action))
        return Job{.work = *one, .delivery = &machine_.delivery(one->tag), .last_error = {}};
    return std::nullopt;
}

Attempted Consumer::work(const Job& job, const std::stop_token& stop) {
    if (const auto* park = std::get_if<consumer_action::Park>(&job.work)) return handling_->park(*job.delivery, *park);
    return handling_->handle(*job.delivery, std::get<consumer_action::Handle>(job.work), job.last_error, stop);
}

void Consumer::act(const ConsumerAction& action, const std::stop_token& stop) {
    if (const auto* one = std::get_if<consumer_action::Receive>(&action)) receive(*one, stop);
    if (const auto* one = std::get_if<consumer_action::Acknowledge>(&action)) acknowledge(*one);
    if (const auto* one = std::get_if<consumer_action::GiveBack>(&action)) {
        // If it does not hear of it, it notices when the connection ends.
        if (const Status given = source_->give_back(one->tags); !given)
            log(LogLevel::info, "consumer: give back: " + given.error().describe());
    }
    if (std::holds_alternative<consumer_action::Pause>(action)) {
        ++pauses_;
        source_->pause();
    }
    if (std::holds_alternative<consumer_action::Resume>(action)) source_->resume();
}

void Consumer::receive(const consumer_action::Receive& action, const std::stop_token& stop) {
    if (action.source_away) {
        std::unique_lock lock(mutex_);
        while (results_.empty() && !stop.stop_requested())
            if (database_->clock().wait(lock, ended_, action.until, stop) != Wake::notified) return;
        return;
    }
    auto deliveries = source_->receive(action.limit, Deadline::at(action.until));
    if (!deliveries) {
        log(LogLevel::warning, "consumer: receive: " + deliveries.error().describe());
        return machine_.receive_failed(now());
    }
    if (deliveries->empty()) return;
    SEMEL_FAILPOINT("consumer.received");
    received_ += deliveries->size();
    machine_.received(*std::move(deliveries));
}

void Consumer::acknowledge(const consumer_action::Acknowledge& action) {
    SEMEL_FAILPOINT("consumer.before_acknowledge");
    if (const Status acknowledged = source_->acknowledge(action.tags); !acknowledged) {
        acknowledgements_lost_ += action.tags.size();
        log(LogLevel::info, "consumer: acknowledge: " + acknowledged.error().describe());
    }
}

ConsumerReport Consumer::report() const noexcept {
    ConsumerReport report;
    handling_->add_to(report);
    report.received = received_;
    report.pauses = pauses_;
    report.acknowledgements_lost = acknowledgements_lost_;
    return report;
}

}  // namespace semel
