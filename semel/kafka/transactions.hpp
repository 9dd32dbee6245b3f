#pragma once

#include "semel/base/time.hpp"
#include "semel/kafka/connection.hpp"
#include "semel/kafka/encode.hpp"
#include "semel/retry/deadline.hpp"
#include "semel/source/received.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace semel::kafka {

/// What one message becomes: any number of records, for any topics. Called again for the same message when a transaction
/// was aborted, so it has no effect of its own.
using KafkaTransform = std::function<Result<std::vector<Record>>(const ReceivedMessage&)>;

struct KafkaTransactionsOptions {
    Connection connection{};
    std::vector<std::string> topics{};  ///< Read from.
    std::string group{};                ///< Processes of one group share the partitions.
    /// The transactional id: another one for each process that runs at the same time, and the same after its restart, so
    /// that what it left open is settled at once, and a zombie of it is shut out.
    std::string id{};
    Duration patience = std::chrono::seconds(45);  ///< How long the group waits for a process that says nothing.
    /// Longest transaction. What a killed process left open is aborted by the broker five seconds after that, if no
    /// process with its id comes back before.
    Duration deadline = std::chrono::seconds(10);
    std::size_t batch = 256;  ///< Messages in one transaction, at most.
};

/// From Kafka to Kafka: reads, transforms and writes, with what is written and how far was read committed in one transaction
/// of Kafka's. Whoever reads the output as committed sees the effect of each message once. Nothing else takes part in such a
/// transaction: an effect in a database needs the inbox, which is what Consumer is for. One thread at a time, except for
/// `wake`.
class KafkaTransactions {
public:
    /// An Error (`rejected`) says what is wrong with the options. Talks to nobody yet.
    [[nodiscard]] static Result<std::unique_ptr<KafkaTransactions>> open(KafkaTransactionsOptions options,
                                                                         KafkaTransform transform,
                                                                         Clock& clock = system_clock());
    ~KafkaTransactions();
    KafkaTransactions(const KafkaTransactions&) = delete;
    KafkaTransactions& operator=(const KafkaTransactions&) = delete;

    /// Waits for messages until the deadline, and moves a batch of them in one transaction: how many; none came: 0. It is
    /// committed then, and readers see it a moment later: the broker answers before it shows what was committed.
    ///
    /// After an Error nothing of the batch is visible, or, if it is `unknown`, all of it may be: the next step finds out
    /// and goes on from there. `conflict`: partitions went to someone else, or another process has the same id. The
    /// transform's own Errors are handed through.
    [[nodiscard]] Result<std::size_t> step(Deadline deadline);
    /// Ends a step that waits for messages. From any thread.
    void wake();

private:
    struct State;
    explicit KafkaTransactions(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::kafka
