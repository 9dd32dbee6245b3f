#pragma once

#include "semel/sink/sink.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace semel::relaying {

/// A broker that outlives whoever is killed: a file with one line for each message that it took, written at once.
/// Any number of processes may share it.
class FileSink final : public Sink {
public:
    explicit FileSink(std::filesystem::path path) : path_(std::move(path)) {}

    std::vector<Status> publish(std::span<const Message> messages, Deadline) override {
        std::ofstream file(path_, std::ios::app);
        for (const Message& one : messages) file << one.aggregate.id << ' ' << one.position << '\n' << std::flush;
        return std::vector<Status>(messages.size());
    }
    struct Line {
        std::string aggregate;
        std::int64_t position = 0;
    };
    [[nodiscard]] std::vector<Line> lines() const {
        std::ifstream file(path_);
        std::vector<Line> all;
        for (Line line; file >> line.aggregate >> line.position;) all.push_back(line);
        return all;
    }

private:
    std::filesystem::path path_;
};

}  // namespace semel::relaying
