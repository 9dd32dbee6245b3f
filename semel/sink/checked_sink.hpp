#pragma once

#include "semel/sink/sink.hpp"

#include <functional>
#include <memory>

namespace semel {

/// Says what is wrong with a message before it is sent: see Contracts.
using MessageCheck = std::function<Status(const Message&)>;

/// Sends on only what passes a check. What does not is answered as `rejected` for good (`final_refusal`), so that a relay
/// sets it aside at once; what stands behind it in its aggregate is held back as behind any message that was refused.
class CheckedSink final : public Sink {
public:
    CheckedSink(std::unique_ptr<Sink> sink, MessageCheck check) : sink_(std::move(sink)), check_(std::move(check)) {}

    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;

private:
    [[nodiscard]] std::vector<Status> publish_some(std::span<const Message> messages,
                                                   std::span<const std::size_t> passed, Deadline deadline);

    std::unique_ptr<Sink> sink_;
    MessageCheck check_;
};

}  // namespace semel
