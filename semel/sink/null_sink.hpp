#pragma once

#include "semel/sink/sink.hpp"

namespace semel {

/// Takes everything and keeps nothing: for measuring what is before it.
class NullSink final : public Sink {
public:
    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline) override {
        return std::vector<Status>(messages.size());
    }
};

}  // namespace semel
