#pragma once

#include "semel/kafka/connection.hpp"
#include "semel/kafka/encode.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace semel::kafka::detail {

/// What a message takes in a batch, at most.
[[nodiscard]] std::size_t batch_bytes(const Record& record) noexcept;

/// What became of a message that was handed over.
struct Report {
    std::size_t message = 0;
    int code = 0;               ///< librdkafka's; 0: the brokers have it.
    bool maybe_stored = false;  ///< It was sent, and may be in the log although it failed.
};

/// When what was handed over leaves.
enum class Leaving : unsigned char {
    at_once,
    /// With the next `wait`: what was handed over before it, for one partition of a topic that is known, is one batch, up to
    /// `batch_max` bytes. It fails with `give_up` only, never one message before the other by a limit of the client's own.
    together,
};

/// One producer of librdkafka's and the reports it owes us. One thread at a time.
class Producer {
public:
    struct Limits {
        Duration message;  ///< Until a message, or a request, has failed for good.
        Duration topic;    ///< Until an unknown topic is believed not to exist.
        Leaving leaving = Leaving::at_once;
    };
    /// Idempotent, acks=all. `extra` is set on top: transactions.
    [[nodiscard]] static Result<std::unique_ptr<Producer>> create(const Connection& connection, const Limits& limits,
                                                                  const std::vector<Setting>& extra = {});
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    /// Hands a message over; 0, or the code of what is wrong with it. Exactly one report follows if it was taken.
    [[nodiscard]] int send(const Record& record, std::size_t message);
    /// Waits up to so long for a report; of messages that leave together, for all of them.
    void wait(Duration limit);
    /// How many bytes are sure to fit into one batch.
    [[nodiscard]] std::size_t batch_max() const;
    [[nodiscard]] std::vector<Report> take_reports();
    /// Everything that is not answered yet is given up and reported.
    void give_up();
    [[nodiscard]] std::size_t outstanding() const noexcept { return outstanding_; }

    /// It goes on with what it has, and is to be replaced after that.
    [[nodiscard]] bool spent() const noexcept { return spent_ || stopped(); }
    void spend() noexcept { spent_ = true; }
    /// It will deliver nothing any more.
    [[nodiscard]] bool stopped() const noexcept;
    /// What it said last about its own troubles.
    [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

    [[nodiscard]] rd_kafka_s* client() const noexcept { return client_.get(); }

    // For its callbacks.
    void delivered(const Report& report);
    void complained(int code, std::string_view what);

private:
    Producer() = default;
    ClientHandle client_;
    Leaving leaving_ = Leaving::at_once;
    std::vector<Report> reports_;
    std::string complaint_;
    std::size_t outstanding_ = 0;
    bool spent_ = false;
};

}  // namespace semel::kafka::detail
