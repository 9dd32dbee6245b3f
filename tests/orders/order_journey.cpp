#include "tests/orders/order_journey.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <barrier>

namespace orders::testing {

using nlohmann::json;

HttpResponse OrderJourneyTest::command(const Seen& seen, const std::string& step, const std::string& body) {
    return post(seen.path + "/" + step, fresh_key(), body, seen.guard());
}

Seen OrderJourneyTest::look(const std::string& path) const {
    const HttpResponse read = get(path);
    EXPECT_EQ(read.status, 200) << read.body;
    return {.path = path, .etag = read.header("ETag").value_or("")};
}

std::string OrderJourneyTest::make_order(const std::vector<std::string>& items) {
    const QuoteAt quote = journey.accepted(items);
    const HttpResponse made = post(quote.path("/convert-to-order"), fresh_key(), "{}", quote.seen());
    EXPECT_EQ(made.status, 201) << made.body;
    return made.member("orderId");
}

OrderJourneyTest::Held OrderJourneyTest::make_held_order() {
    Held held{.order_id = make_order(), .task = {}};
    EXPECT_EQ(command(task_of(held.order_id, "RESERVE").seen(), "fail", because).status, 200);
    held.task = task_of(held.order_id, "RESERVE");
    return held;
}

std::vector<TaskAt> OrderJourneyTest::tasks_of(const std::string& order_id) const {
    const HttpResponse read = get("/api/v1/fulfillment-tasks?limit=100&orderId=" + order_id);
    EXPECT_EQ(read.status, 200) << read.body;
    std::vector<TaskAt> tasks;
    const json page = json::parse(read.body);
    for (const json& task : page.at("items"))
        tasks.push_back({.id = task.at("taskId").get<std::string>(),
                         .kind = task.at("kind").get<std::string>(),
                         .state = task.at("state").get<std::string>(),
                         .version = task.at("version").get<std::int64_t>()});
    return tasks;
}

TaskAt OrderJourneyTest::task_of(const std::string& order_id, std::string_view kind) const {
    for (const TaskAt& task : tasks_of(order_id))
        if (task.kind == kind) return task;
    ADD_FAILURE() << "the order has no task to " << kind;
    return {};
}

TaskAt OrderJourneyTest::all_but_the_last(const std::string& order_id) {
    for (;;) {
        const auto tasks = tasks_of(order_id);
        const auto ready = std::ranges::find(tasks, "READY", &TaskAt::state);
        if (ready == tasks.end()) {
            ADD_FAILURE() << "nothing is left to do for " << order_id;
            return {};
        }
        if (ready->kind == "ACTIVATE") return *ready;
        const HttpResponse completed = command(ready->seen(), "complete");
        EXPECT_EQ(completed.status, 200) << completed.body;
        if (completed.status != 200) return {};
    }
}

void OrderJourneyTest::finish(const std::string& order_id) {
    const HttpResponse completed = command(all_but_the_last(order_id).seen(), "complete");
    EXPECT_EQ(completed.status, 200) << completed.body;
}

std::vector<std::string> OrderJourneyTest::members(const std::string& target, const std::string& member) const {
    const HttpResponse read = get(target);
    EXPECT_EQ(read.status, 200) << read.body;
    std::vector<std::string> found;
    const json page = json::parse(read.body);
    for (const json& entry : page.at("items")) found.push_back(entry.at(member).get<std::string>());
    return found;
}

std::map<std::string, int> OrderJourneyTest::at_once(int clients, const std::function<HttpResponse(int)>& act) {
    std::mutex mutex;
    std::map<std::string, int> told;
    std::barrier start(clients);
    std::vector<std::jthread> threads;
    for (int client = 0; client < clients; ++client)
        threads.emplace_back([&, client] {
            start.arrive_and_wait();
            const HttpResponse answer = act(client);
            const std::lock_guard lock(mutex);
            ++told[std::to_string(answer.status) + (answer.status < 400 ? "" : " " + answer.code())];
        });
    threads.clear();
    return told;
}

void OrderJourneyTest::expect_consistent_orders() {
    EXPECT_EQ(count("SELECT count(*) FROM orders_order AS head WHERE task_count <>"
                    " (SELECT count(*) FROM orders_task AS task WHERE task.order_id = head.id)"),
              0);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order AS head WHERE open_task_count <>"
                    " (SELECT count(*) FROM orders_task AS task WHERE task.order_id = head.id"
                    " AND task.state NOT IN ('COMPLETED', 'CANCELLED'))"),
              0);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order AS head WHERE failed_task_count <>"
                    " (SELECT count(*) FROM orders_task AS task WHERE task.order_id = head.id"
                    " AND task.state = 'FAILED')"),
              0);
    EXPECT_EQ(count("SELECT count(*) FROM orders_task AS task WHERE waits_for <>"
                    " (SELECT count(*) FROM orders_task_dependency AS dependency"
                    " JOIN orders_task AS needed ON needed.id = dependency.needs"
                    " WHERE dependency.task_id = task.id AND needed.state <> 'COMPLETED')"),
              0);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order AS head WHERE (state = 'COMPLETED') <>"
                    " (open_task_count = 0 AND state <> 'CANCELLED')"),
              0);
    EXPECT_EQ(count("SELECT count(*) FROM orders_order AS head WHERE"
                    " (SELECT count(*) FROM orders_asset AS asset WHERE asset.order_id = head.id) <>"
                    " CASE WHEN state = 'COMPLETED' THEN"
                    " (SELECT count(*) FROM orders_order_item AS item WHERE item.order_id = head.id) ELSE 0 END"),
              0);
    // Every version has its line of the audit.
    EXPECT_EQ(count("SELECT count(*) FROM orders_order AS head WHERE version <>"
                    " (SELECT count(*) FROM orders_audit AS line WHERE line.kind = 'order'"
                    " AND line.resource_id = head.id)"),
              0);
}

std::string repairing(const std::string& action, const std::string& task_id) {
    return R"({"action":")" + action + R"(","taskId":")" + task_id + R"(","reason":"seen to by hand"})";
}

std::string item_on(const std::string& instance_key) {
    return R"({"sku":"fiber-100","quantity":1,"instanceKey":")" + instance_key + "\"}";
}

}  // namespace orders::testing
