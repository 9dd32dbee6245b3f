#pragma once

#include "semel/sink/sink.hpp"
#include "semel/source/source.hpp"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace semel::consuming {

/// A broker that outlives whoever is killed: files with a line for each message, each delivery and each acknowledgement,
/// written at once. Any number of processes may send, one at a time consumes.
class FileBroker final : public Sink, public Source {
public:
    explicit FileBroker(std::filesystem::path directory) : directory_(std::move(directory)) {
        std::filesystem::create_directories(directory_);
        delivered_ = ids_in("delivered");
        acknowledged_ = ids_in("acknowledged");
    }

    void send(const ReceivedMessage& message) const {
        std::ostringstream line;
        line << message.id << '\t' << message.key << '\t' << message.payload << '\n';
        write("messages", line.str());
    }
    /// The payload of what arrives is the event's position.
    std::vector<Status> publish(std::span<const Message> messages, Deadline) override {
        for (const Message& one : messages) {
            ReceivedMessage received = received_from(one, "orders");
            received.payload = std::to_string(one.position);
            send(received);
        }
        return std::vector<Status>(messages.size());
    }

    Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override {
        std::vector<Delivery> deliveries;
        if (!paused_ && limit > 0) take(limit, deliveries);
        if (!deliveries.empty()) return deliveries;
        std::unique_lock lock(mutex_);
        // Nobody tells when another process sends: look again soon.
        const Instant soon = std::min(deadline.at(), system_clock().now() + std::chrono::milliseconds(10));
        while (!woken_)
            if (system_clock().wait(lock, changed_, soon, {}) != Wake::notified) break;
        woken_ = false;
        return deliveries;
    }
    Status acknowledge(std::span<const DeliveryTag> tags) override {
        for (const DeliveryTag tag : tags) {
            write("acknowledged", under_way_.at(tag) + "\n");
            under_way_.erase(tag);
        }
        return {};
    }
    Status give_back(std::span<const DeliveryTag>) override { return {}; }
    void pause() override { paused_ = true; }
    void resume() override { paused_ = false; }
    void wake() override {
        {
            const std::lock_guard guard(mutex_);
            woken_ = true;
        }
        changed_.notify_all();
    }

    /// The ids of the lines of one of the files.
    [[nodiscard]] std::set<std::string> ids_in(const std::string& file) const {
        std::set<std::string> ids;
        for (const std::string& line : lines_from(file, 0)) ids.insert(line.substr(0, line.find('\t')));
        return ids;
    }
    [[nodiscard]] std::size_t lines_in(const std::string& file) const { return lines_from(file, 0).size(); }
    /// Whether every message was acknowledged.
    [[nodiscard]] bool done() const { return ids_in("messages") == ids_in("acknowledged"); }

private:
    void write(const std::string& file, const std::string& text) const {
        std::ofstream(directory_ / file, std::ios::app) << text << std::flush;
    }
    /// Whole lines only: the last may still be written.
    [[nodiscard]] std::vector<std::string> lines_from(const std::string& file, std::size_t skipped) const {
        std::ifstream in(directory_ / file);
        std::vector<std::string> lines;
        std::size_t number = 0;
        for (std::string line; std::getline(in, line) && !in.eof();)
            if (number++ >= skipped) lines.push_back(line);
        return lines;
    }
    void take(std::size_t limit, std::vector<Delivery>& deliveries) {
        for (const std::string& line : lines_from("messages", read_)) {
            if (deliveries.size() == limit) return;
            ++read_;
            std::istringstream fields(line);
            ReceivedMessage message{.id = {}, .tenant = "shop", .topic = "orders", .type = "changed"};
            std::getline(fields, message.id, '\t');
            std::getline(fields, message.key, '\t');
            std::getline(fields, message.payload, '\t');
            if (acknowledged_.contains(message.id)) continue;
            const bool before = delivered_.contains(message.id);
            write("delivered", message.id + "\n");
            under_way_[++tags_] = message.id;
            deliveries.push_back({.tag = tags_, .redelivered = before, .message = std::move(message)});
        }
    }

    std::filesystem::path directory_;
    std::set<std::string> delivered_;  ///< Before this process, as everything here.
    std::set<std::string> acknowledged_;
    std::map<DeliveryTag, std::string> under_way_;
    DeliveryTag tags_ = 0;
    std::size_t read_ = 0;
    bool paused_ = false;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool woken_ = false;
};

}  // namespace semel::consuming
