#pragma once

#include "semel/base/digest.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"
#include "semel/db/transaction.hpp"
#include "semel/source/received.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// What the inbox says of a message.
enum class InboxVerdict : std::uint8_t {
    fresh,      ///< Not processed yet.
    duplicate,  ///< The same message was processed before.
    same_fact,  ///< Another message with the same business key told the same before.
    conflict,   ///< Another message with the same business key told something else: for a person, never skipped.
    parked,     ///< It was set aside before.
};
[[nodiscard]] std::string_view name(InboxVerdict) noexcept;

/// A message on its way into the inbox.
struct InboxEntry {
    const ReceivedMessage* message;  ///< Borrowed.
    std::optional<std::string> business_key{};
    Digest content{};  ///< `content_hash` of the message.
};

/// An attempt that was counted before it began.
struct StartedAttempt {
    InboxVerdict verdict = InboxVerdict::fresh;  ///< `fresh`, `duplicate` or `parked`; else nothing was counted.
    std::int32_t started = 0;                    ///< This one included.
    std::string last_error{};                    ///< Of an earlier one, if it lived to tell.
};

/// What one consumer has processed. The row commits with the consumer's own changes, and its primary key decides: of all
/// deliveries of one message, however they race, one commits. Thread-safe.
class Inbox {
public:
    /// The name says which consumer it is, across processes and restarts: another name processes everything once more.
    [[nodiscard]] static Result<Inbox> of(Database& database, std::string consumer);

    /// Posts the row, ahead of whatever the handler does: it goes out with the first flush, and a repeat fails there. A
    /// lost COMMIT of this transaction is settled by running it again.
    void claim(Transaction& tx, const InboxEntry& entry) const;
    /// As `claim`, for an attempt that was counted: the count is removed with it.
    void claim_counted(Transaction& tx, const InboxEntry& entry) const;

    /// Whether a failure of the transaction is the claim's: it outranks whatever the handler made of it.
    [[nodiscard]] static bool refused(const Error& error) noexcept;
    /// What such a failure says of the message. `conflict` as a Fault: who was there first is gone again; rerun.
    [[nodiscard]] Result<InboxVerdict> verdict(const Error& refusal, const InboxEntry& entry, Deadline deadline) const;

    /// Counts an attempt that is about to begin, in a transaction of its own, so that one which kills the process is
    /// counted too. `at_least` is how many the caller knows of, this one included. Nothing is counted of a message that
    /// was processed or parked.
    [[nodiscard]] Result<StartedAttempt> start(const ReceivedMessage& message, std::int32_t at_least,
                                               std::string_view last_error, Deadline deadline) const;
    /// Takes a count back: the attempt failed by no fault of the message.
    [[nodiscard]] Status excuse(const ReceivedMessage& message, Deadline deadline) const;

    [[nodiscard]] const std::string& consumer() const noexcept { return consumer_; }

private:
    struct Statements {
        Sql insert, look, fact, start, excuse, forget;
    };
    Inbox(Database& database, std::string consumer, const Statements& statements)
        : database_(&database), consumer_(std::move(consumer)), statements_(statements) {}

    Database* database_;
    std::string consumer_;
    Statements statements_;
};

}  // namespace semel
