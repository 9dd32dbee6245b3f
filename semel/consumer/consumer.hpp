#pragma once

#include "semel/consumer/handling.hpp"
#include "semel/consumer/machine.hpp"
#include "semel/consumer/redriving.hpp"
#include "semel/source/source.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

namespace semel {

/// Handles the messages of a source, each once: receive, inbox row and handler in one transaction, COMMIT, acknowledge. A
/// repeat finds the inbox row and is acknowledged without an effect, whoever died in between. Messages of one key are
/// handled in their order. What keeps failing is parked, whole and with its reason; what keeps killing the process too.
/// While the database is away, or the handler says that something it needs is, the source is paused.
///
/// Any number of consumers of one name may run, in any number of processes; order per key across processes is as good as
/// the source's way to share its messages.
class Consumer {
public:
    /// The database and the source must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<Consumer>> create(Database& database, Source& source,
                                                                  ConsumerOptions options, ConsumerHandler handler);
    ~Consumer() { stop(); }
    Consumer(const Consumer&) = delete;
    Consumer& operator=(const Consumer&) = delete;

    /// Works on threads of its own: one that talks to the source, the workers, and one for what people ask.
    void start();
    /// Drains: receives nothing more, lets the handlers under way end, acknowledges what they did, gives the rest back. For
    /// good: a consumer that was stopped is not started again.
    void stop();

    /// Everything that can be done now, on the calling thread. Not while it is started.
    void run_until_idle();

    /// Handles a parked message once more, on the calling thread; any thread, also while it is started. `fresh`: it is
    /// processed now, and no longer parked. `duplicate` and `same_fact`: it had been. `conflict`, or an Error that blames
    /// the message: it stays parked, with the new reason. Later messages of its key went on without it.
    [[nodiscard]] Result<InboxVerdict> redrive(std::string_view message_id, Deadline deadline) {
        return handling_->redrive(message_id, deadline);
    }
    /// Redrives what people have asked for on the command line (`semel inbox redrive`), on the calling thread; how many came
    /// to an end. An Error: the first of those that have to wait; the others were redriven all the same. A consumer that is
    /// started does so by itself.
    [[nodiscard]] Result<std::size_t> redrive_requested() { return redriving_->run({}); }
    [[nodiscard]] const ParkedMessages& parked() const noexcept { return handling_->parked(); }

    [[nodiscard]] ConsumerReport report() const noexcept;

private:
    using Work = std::variant<consumer_action::Handle, consumer_action::Park>;
    struct Job {
        Work work;
        const Delivery* delivery;
        std::string last_error;
    };
    struct Ended {
        DeliveryTag tag;
        Attempted attempted;
    };

    Consumer(Database& database, Source& source, std::unique_ptr<detail::Handling> handling,
             std::unique_ptr<detail::Redriving> redriving)
        : database_(&database),
          source_(&source),
          handling_(std::move(handling)),
          redriving_(std::move(redriving)),
          machine_(handling_->options().rules, database.random()) {}

    void run(const std::stop_token& stop);
    void run_worker(const std::stop_token& stop);
    void drain();
    /// Tells the machine what the workers have done.
    void collect();
    /// Does what concerns the source; anything else is the caller's.
    void act(const ConsumerAction& action, const std::stop_token& stop);
    void receive(const consumer_action::Receive& action, const std::stop_token& stop);
    void acknowledge(const consumer_action::Acknowledge& action);
    /// What the machine asks the workers to do, if it does.
    [[nodiscard]] std::optional<Job> job_of(const ConsumerAction& action) const;
    [[nodiscard]] Attempted work(const Job& job, const std::stop_token& stop);
    [[nodiscard]] Instant now() const noexcept { return database_->clock().now(); }

    Database* database_;
    Source* source_;
    std::unique_ptr<detail::Handling> handling_;
    std::unique_ptr<detail::Redriving> redriving_;
    ConsumerMachine machine_;
    bool stepped_ = false;  ///< Worked on a caller's thread, and has not drained since.
    std::atomic<std::uint64_t> received_ = 0;
    std::atomic<std::uint64_t> pauses_ = 0;
    std::atomic<std::uint64_t> acknowledgements_lost_ = 0;

    std::mutex mutex_;
    std::condition_variable_any offered_;  ///< There is a job.
    std::condition_variable_any ended_;    ///< There is a result.
    std::deque<Job> jobs_;
    std::vector<Ended> results_;
    std::stop_source stopping_;
    std::vector<std::jthread> workers_;
    std::jthread redriver_;
    std::jthread thread_;
};

}  // namespace semel
