#pragma once

#include "tests/orders/journey.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orders::testing {

/// A thing that has versions, as a test has seen it.
struct Seen {
    std::string path;
    std::string etag;

    [[nodiscard]] Fields guard() const { return {{"If-Match", etag}}; }
};

/// A task as a test has seen it.
struct TaskAt {
    std::string id;
    std::string kind;
    std::string state;
    std::int64_t version = 1;

    [[nodiscard]] Seen seen() const {
        return {.path = "/api/v1/fulfillment-tasks/" + id, .etag = "\"task-version-" + std::to_string(version) + "\""};
    }
};

/// Base of the tests of what comes after a quote: brings orders to where a test begins.
class OrderJourneyTest : public OrdersTest {
protected:
    /// One under which nothing was sent yet. Thread-safe.
    [[nodiscard]] std::string fresh_key() { return "key-" + std::to_string(++keys_); }

    /// One command under a fresh key, repeated if it lost one race after the other, as its answer says. Thread-safe.
    [[nodiscard]] HttpResponse command(const Seen& seen, const std::string& step, const std::string& body = "{}");

    /// As it is now.
    [[nodiscard]] Seen look(const std::string& path) const;
    [[nodiscard]] Seen look_at_order(const std::string& id) const { return look("/api/v1/orders/" + id); }

    /// The id of a new order of a new quote with these items.
    [[nodiscard]] std::string make_order(const std::vector<std::string>& items = {Journey::cheap});

    [[nodiscard]] std::string state_of(const std::string& order_id) const {
        return get("/api/v1/orders/" + order_id).member("state");
    }

    /// An order that is held by its first task.
    struct Held {
        std::string order_id;
        TaskAt task;
    };
    [[nodiscard]] Held make_held_order();

    /// Every task of the order, by id.
    [[nodiscard]] std::vector<TaskAt> tasks_of(const std::string& order_id) const;
    [[nodiscard]] TaskAt task_of(const std::string& order_id, std::string_view kind) const;

    /// Completes every task of the order but the last, which is then READY.
    [[nodiscard]] TaskAt all_but_the_last(const std::string& order_id);
    /// Completes every task of the order.
    void finish(const std::string& order_id);

    /// The items of a collection, one member of each.
    [[nodiscard]] std::vector<std::string> members(const std::string& target, const std::string& member) const;

    /// What that many clients are told who do the same at once: how often each status and code came back.
    [[nodiscard]] static std::map<std::string, int> at_once(int clients, const std::function<HttpResponse(int)>& act);

    /// What must hold of every order of the store, whatever was done to it.
    void expect_consistent_orders();

    Journey journey{[this](const HttpRequest& request) { return send(request); }};

private:
    std::atomic<int> keys_ = 0;
};

/// The body of a failure and of a cancellation.
inline constexpr const char* because = R"({"reason":"none left"})";

/// The body of a repair of this task.
[[nodiscard]] std::string repairing(const std::string& action, const std::string& task_id);

/// An item that runs on this instance.
[[nodiscard]] std::string item_on(const std::string& instance_key);

}  // namespace orders::testing
