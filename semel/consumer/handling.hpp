#pragma once

#include "semel/consumer/machine.hpp"
#include "semel/db/transact.hpp"
#include "semel/idempotency/barrier.hpp"
#include "semel/inbox/inbox.hpp"
#include "semel/inbox/parked_message.hpp"
#include "semel/outbox/append.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace semel {

/// What a consumer's handler works with. Everything it does through `tx` and `outbox` commits together with the inbox row,
/// or not at all. Like a command's handler it may run several times, has no effect outside its transaction, and costs one
/// round trip if it only posts.
struct ConsumerWork {
    Transaction& tx;
    Outbox& outbox;
    const ReceivedMessage& message;
    const Attempt& attempt;
};

/// Success commits. An Error rolls back: `conflict` runs it again at once, a few times; `unavailable` and `throttled` pause
/// the whole consumer and try later; anything else, or an exception, counts as an attempt of this message. It is called on
/// all workers at once, and on one thread more: the one that redrives what people ask for. So it must be thread-safe even
/// with one worker.
using ConsumerHandler = std::function<Status(ConsumerWork&)>;
/// The fact that a message tells of, however often and under whatever id it is told; none if it has no such key.
using BusinessKey = std::function<std::optional<std::string>(const ReceivedMessage&)>;

struct ConsumerOptions {
    std::string name;  ///< Whose inbox it is: the same in all processes and after every restart.
    ConsumerRules rules{};
    BusinessKey business_key{};
    TransactionOptions transaction{};
    Duration handle_limit = std::chrono::seconds(30);  ///< Of one attempt, reruns of its transaction included.
    EventCheck
        check_event{};  ///< What an event that a handler appends has to look like; another one is a failure of it.
};

/// What a consumer has done since it was made.
struct ConsumerReport {
    std::uint64_t received = 0;
    std::uint64_t processed = 0;
    std::uint64_t duplicates = 0;  ///< Known by their id, and acknowledged again.
    std::uint64_t same_facts = 0;  ///< Known by their business key.
    std::uint64_t conflicts = 0;   ///< Parked, since the business key stands for something else.
    std::uint64_t failed = 0;      ///< Attempts.
    std::uint64_t parked = 0;
    std::uint64_t pauses = 0;
    std::uint64_t acknowledgements_lost = 0;  ///< These come again.
};

namespace detail {

/// One message at a time through inbox and handler; any number of threads.
class Handling {
public:
    [[nodiscard]] static Result<std::unique_ptr<Handling>> create(Database& database, ConsumerOptions options,
                                                                  ConsumerHandler handler);

    [[nodiscard]] Attempted handle(const Delivery& delivery, const consumer_action::Handle& how,
                                   const std::string& last_error, const std::stop_token& stop);
    [[nodiscard]] Attempted park(const Delivery& delivery, const consumer_action::Park& how);
    [[nodiscard]] Result<InboxVerdict> redrive(std::string_view message_id, Deadline deadline);

    /// How one try of a parked message went.
    struct Retried {
        Result<InboxVerdict> verdict;
        bool handler_ran = false;
    };
    /// Tries it. If it is processed now, or had been, it is no longer parked, nor asked for; else nothing has changed.
    [[nodiscard]] Retried retry(const ParkedMessage& parked, Deadline deadline, const std::stop_token& stop);
    /// Why it stays parked after that try; none: it does not, or nobody knows.
    [[nodiscard]] static std::optional<std::string> reason_to_keep(const Result<InboxVerdict>& verdict);

    [[nodiscard]] const ConsumerOptions& options() const noexcept { return options_; }
    [[nodiscard]] const ParkedMessages& parked() const noexcept { return parked_; }
    /// Its part of the report.
    void add_to(ConsumerReport& report) const noexcept;

private:
    /// How the transactions of one message are run.
    struct Run {
        bool counted = false;
        bool redriven = false;
        Deadline deadline;
        std::stop_token stop{};
        bool* handler_ran = nullptr;  ///< To be told, if anyone wants to know.
    };

    Handling(Database& database, ConsumerOptions options, ConsumerHandler handler, Inbox inbox, ParkedMessages parked,
             const AppendStatements& append, const Statements& statements);

    /// Inbox row, handler, events and COMMIT. `fresh`: it is processed now.
    [[nodiscard]] Result<InboxVerdict> process(const ReceivedMessage& message, const Run& run);
    /// `refusal` is what the handler said for reasons of its own, if it did; then the transaction is rolled back by choice.
    [[nodiscard]] Status execute(Transaction& tx, const Attempt& attempt, const InboxEntry& entry, const Run& run,
                                 std::optional<Error>& refusal);
    [[nodiscard]] Status call_handler(ConsumerWork& work) const;
    [[nodiscard]] Result<std::optional<std::string>> business_key_of(const ReceivedMessage& message) const;
    [[nodiscard]] Attempted failed(Error error, std::int32_t attempts);

    Database* database_;
    ConsumerOptions options_;
    ConsumerHandler handler_;
    Inbox inbox_;
    ParkedMessages parked_;
    AppendStatements append_;
    Barrier barrier_;
    std::atomic<std::uint64_t> processed_ = 0;
    std::atomic<std::uint64_t> duplicates_ = 0;
    std::atomic<std::uint64_t> same_facts_ = 0;
    std::atomic<std::uint64_t> conflicts_ = 0;
    std::atomic<std::uint64_t> failed_ = 0;
    std::atomic<std::uint64_t> parkings_ = 0;
};

}  // namespace detail
}  // namespace semel
