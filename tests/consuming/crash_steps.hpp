#pragma once

#include <string>
#include <vector>

namespace semel::consuming {

/// A step of one message's life at which a process is killed. What is there of the message is told in few words: its
/// request (`asked` or `taken`, how often it was begun without an end / how often it was put back), `parked` and
/// `counted` with the number of attempts, and one `effect` for each effect.
struct CrashStep {
    std::string place;
    std::string
        begins;        ///< What there is when the process begins: `redelivered` is a message that was delivered before.
    std::string does;  ///< What the process does: asks, redrives by itself or what was asked for, or consumes.
    std::string answer;  ///< What its handler says: good, bad, away.
    std::string leaves;  ///< What there is when it was killed.
};

inline const std::vector<CrashStep> crash_steps{
    {"inbox.before_ask", "parked 3", "ask", "", "parked 3"},
    {"inbox.after_ask", "parked 3", "ask", "", "asked 0/0, parked 3"},
    // Taken for a while, and counted as begun.
    {"inbox.before_take", "asked 0/0, parked 3", "redrive asked", "good", "asked 0/0, parked 3"},
    {"inbox.after_take", "asked 0/0, parked 3", "redrive asked", "good", "taken 1/0, parked 3"},
    // Effect, parked message and request: all or nothing.
    {"consumer.before_commit", "asked 0/0, parked 3", "redrive asked", "good", "taken 1/0, parked 3"},
    {"consumer.after_commit", "asked 0/0, parked 3", "redrive asked", "good", "effect"},
    // It had been processed.
    {"consumer.before_remove", "asked 0/0, parked 3, effect", "redrive asked", "good", "taken 1/0, parked 3, effect"},
    {"consumer.after_remove", "asked 0/0, parked 3, effect", "redrive asked", "good", "effect"},
    // It is no longer parked.
    {"inbox.before_end", "asked 0/0", "redrive asked", "good", "taken 1/0"},
    {"inbox.after_end", "asked 0/0", "redrive asked", "good", ""},
    // It stays parked, for a new reason.
    {"redrive.before_keep", "asked 0/0, parked 3", "redrive asked", "bad", "taken 1/0, parked 3"},
    {"redrive.after_keep", "asked 0/0, parked 3", "redrive asked", "bad", "parked 4"},
    {"consumer.before_keep", "parked 3", "redrive", "bad", "parked 3"},
    {"consumer.after_keep", "parked 3", "redrive", "bad", "parked 4"},
    // It waits, and does not count as begun.
    {"inbox.before_put_back", "asked 0/0, parked 3", "redrive asked", "away", "taken 1/0, parked 3"},
    {"inbox.after_put_back", "asked 0/0, parked 3", "redrive asked", "away", "asked 0/1, parked 3"},
    // How a message comes to be parked.
    {"inbox.before_count", "redelivered", "consume", "bad", ""},
    {"inbox.after_count", "redelivered", "consume", "bad", "counted 1"},
    {"inbox.before_excuse", "redelivered", "consume", "away", "counted 1"},
    {"inbox.after_excuse", "redelivered", "consume", "away", "counted 0"},
    {"inbox.before_park", "redelivered", "consume", "bad", "counted 3"},
    {"inbox.after_park", "redelivered", "consume", "bad", "parked 3"},
};

/// Those of the inbox's retention, which is about many messages.
inline const std::vector<std::string> retention_places{"inbox.before_forget", "inbox.after_forget"};

}  // namespace semel::consuming
