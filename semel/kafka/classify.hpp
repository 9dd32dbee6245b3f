#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/rule.hpp"

#include <span>
#include <string>
#include <string_view>

namespace semel::kafka {

/// What each code of librdkafka means; those below zero are its own, the others are the broker's. The only place that
/// decides it. `connect`: it is certain that the message is in no log. `transaction`: inside a transaction of Kafka's, which
/// is aborted. `commit`: the message was sent, or the end of the transaction was, and may have been written.
[[nodiscard]] std::span<const Rule> kafka_rules() noexcept;

/// The code as the table writes it: "-192", "10".
[[nodiscard]] std::string kafka_code(int code);
[[nodiscard]] Fault classify_kafka(int code, Phase phase) noexcept;

/// Whether the broker refused a whole batch for something that one message of it may be guilty of. The others are taken
/// when they are sent without it.
[[nodiscard]] bool blames_one_of_the_batch(int code) noexcept;
/// Whether a client that met this is to be replaced: it has stopped, or believes for minutes that a topic does not
/// exist or may not be used.
[[nodiscard]] bool ends_client(int code) noexcept;

/// The failure: Fault by the table, what `native` says for those who operate it, the code's name in `cause`.
[[nodiscard]] Error kafka_error(int code, Phase phase, std::string message, std::string_view native = {});

}  // namespace semel::kafka
