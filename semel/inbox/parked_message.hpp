#pragma once

#include "semel/db/catalogue.hpp"
#include "semel/db/database.hpp"
#include "semel/db/transaction.hpp"
#include "semel/source/received.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// A message that was set aside, whole, and why.
struct ParkedMessage {
    ReceivedMessage message;
    std::int32_t attempts = 0;
    std::string reason;
    Timestamp parked_at;
};

/// The messages of one consumer that wait for a person. Thread-safe.
class ParkedMessages {
public:
    [[nodiscard]] static Result<ParkedMessages> of(Database& database, std::string consumer);

    /// Sets a message aside, unless it was processed meanwhile; doing it again changes the reason. Its attempts are
    /// counted anew from then on.
    [[nodiscard]] Status park(const ReceivedMessage& message, std::int32_t attempts, std::string_view reason,
                              Deadline deadline) const;
    /// The first `limit` by time.
    [[nodiscard]] Result<std::vector<ParkedMessage>> list(std::size_t limit, Deadline deadline) const;
    [[nodiscard]] Result<std::optional<ParkedMessage>> look(std::string_view message_id, Deadline deadline) const;
    /// Posts its removal, and that of any request to redrive it, to commit with whatever else the transaction does.
    void remove(Transaction& tx, std::string_view message_id) const;
    /// Posts that it stays parked, after so many attempts more and for this reason. Nothing happens to one that is not
    /// parked any more.
    void keep(Transaction& tx, std::string_view message_id, std::int32_t attempts_more, std::string_view reason) const;

private:
    struct Statements {
        Sql park, forget, list, look, remove, forget_request, keep;
    };
    ParkedMessages(Database& database, std::string consumer, const Statements& statements)
        : database_(&database), consumer_(std::move(consumer)), statements_(statements) {}

    Database* database_;
    std::string consumer_;
    Statements statements_;
};

/// How many messages of a consumer wait for a person.
struct ParkedCount {
    std::string consumer;
    std::int64_t messages = 0;
    Timestamp oldest;
};
/// Of every consumer that has any.
[[nodiscard]] Result<std::vector<ParkedCount>> count_parked(Database& database, Deadline deadline);

}  // namespace semel
