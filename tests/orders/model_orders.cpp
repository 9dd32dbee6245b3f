#include "tests/orders/model.hpp"

#include <algorithm>

// What comes after a quote, as the model has it.

namespace orders::model {

std::int64_t Model::tasks_in(const Order& order, const States& states) const {
    return std::ranges::count_if(
        order.tasks, [&](std::size_t task) { return std::ranges::find(states, tasks[task].state) != states.end(); });
}

std::string Model::instance_of(const Line& line) { return line.instance_key.empty() ? line.id : line.instance_key; }

Verdict Model::convert(const Asked& asked) {
    Quote& quote = quotes[*asked.thing];
    if (quote.order) return Verdict::duplicate({orders[*quote.order].id});
    if (auto verdict = refused(asked, quote, {"ACCEPTED"})) return *verdict;

    Order order;
    order.state = "CREATED";
    order.quote = *asked.thing;
    order.quote_revision = quote.revision;
    order.lines = quote.lines;
    const auto add_task = [&](std::string kind, std::optional<std::size_t> line, std::vector<std::size_t> needs) {
        Task task;
        task.state = needs.empty() ? "READY" : "WAITING";
        task.order = orders.size();
        task.line = line;
        task.kind = std::move(kind);
        task.needs = std::move(needs);
        tasks.push_back(std::move(task));
        order.tasks.push_back(tasks.size() - 1);
        return tasks.size() - 1;
    };
    std::vector<std::size_t> provisions;
    for (std::size_t line = 0; line < order.lines.size(); ++line)
        provisions.push_back(add_task("PROVISION", line, {add_task("RESERVE", line, {})}));
    add_task("ACTIVATE", std::nullopt, std::move(provisions));
    for (Line& line : order.lines) line.id.clear();
    orders.push_back(std::move(order));
    quote.order = orders.size() - 1;
    begin(asked, Kind::order, orders.size() - 1, "order.created");
    for (const std::size_t task : orders.back().tasks) begin(asked, Kind::task, task, "task.created");
    step(asked, Kind::quote, *asked.thing, "CONVERTED", "quote.converted");
    return {.status = 201};
}

std::vector<std::string> Model::assets_in_the_way(const Order& order) const {
    std::vector<std::string> found;
    for (const Asset& asset : assets) {
        const Order& other = orders[asset.order];
        if (asset.state == "ENDED" || quotes[other.quote].customer != quotes[order.quote].customer) continue;
        for (const Line& line : order.lines)
            if (instance_of(line) == instance_of(other.lines[asset.line])) found.push_back(asset.id);
    }
    return found;
}

void Model::settle(const Asked& asked, std::size_t index, std::string_view event, const std::string& reason) {
    const Order& order = orders[index];
    if (tasks_in(order, {"COMPLETED"}) == static_cast<std::int64_t>(order.tasks.size()))
        step(asked, Kind::order, index, "COMPLETED", "order.completed", reason);
    else if (tasks_in(order, {"FAILED"}) > 0)
        step(asked, Kind::order, index, "HELD", event.empty() ? "order.held" : event, reason);
    else
        step(asked, Kind::order, index, "IN_PROGRESS", event.empty() ? "order.progressed" : event, reason);
}

Verdict Model::finish(const Asked& asked, std::size_t done, std::string_view event, std::string_view order_event,
                      const std::string& reason) {
    const std::size_t index = tasks[done].order;
    const Order& order = orders[index];
    const bool is_last = tasks_in(order, {"COMPLETED"}) + 1 == static_cast<std::int64_t>(order.tasks.size());
    if (is_last) {
        if (auto taken = assets_in_the_way(order); !taken.empty()) return Verdict::duplicate(std::move(taken));
    }
    step(asked, Kind::task, done, "COMPLETED", event, reason);
    for (const std::size_t task : order.tasks) {
        const auto is_completed = [&](std::size_t needed) { return tasks[needed].state == "COMPLETED"; };
        if (tasks[task].state == "WAITING" && std::ranges::all_of(tasks[task].needs, is_completed))
            step(asked, Kind::task, task, "READY", "task.ready", reason);
    }
    settle(asked, index, order_event, reason);
    for (std::size_t line = 0; is_last && line < order.lines.size(); ++line) {
        Asset asset;
        asset.state = "ACTIVE";
        asset.order = index;
        asset.line = line;
        asset.quantity = order.lines[line].quantity;
        assets.push_back(std::move(asset));
        begin(asked, Kind::asset, assets.size() - 1, "asset.created");
    }
    return {};
}

void Model::begin_again(const Asked& asked, std::size_t task, std::string_view order_event, const std::string& reason) {
    tasks[task].attempt += 1;
    tasks[task].failure.clear();
    step(asked, Kind::task, task, "READY", "task.retried", reason);
    settle(asked, tasks[task].order, order_event, reason);
}

Verdict Model::complete(const Asked& asked) {
    if (auto verdict = refused(asked, tasks[*asked.thing], {"READY"})) return *verdict;
    return finish(asked, *asked.thing, "task.completed", "", "");
}

Verdict Model::fail(const Asked& asked) {
    if (auto verdict = refused(asked, tasks[*asked.thing], {"READY"})) return *verdict;
    tasks[*asked.thing].failure = asked.reason;
    step(asked, Kind::task, *asked.thing, "FAILED", "task.failed", asked.reason);
    settle(asked, tasks[*asked.thing].order, "", asked.reason);
    return {};
}

Verdict Model::retry(const Asked& asked) {
    if (auto verdict = refused(asked, tasks[*asked.thing], {"FAILED"})) return *verdict;
    begin_again(asked, *asked.thing, "", "");
    return {};
}

Verdict Model::cancel(const Asked& asked) {
    const Order& order = orders[*asked.thing];
    if (order.state == "CANCELLED") return Verdict::duplicate();
    if (auto verdict = refused(asked, order, {"CREATED", "IN_PROGRESS", "HELD"})) return *verdict;
    for (const std::size_t task : order.tasks)
        if (tasks[task].state != "COMPLETED")
            step(asked, Kind::task, task, "CANCELLED", "task.cancelled", asked.reason);
    step(asked, Kind::order, *asked.thing, "CANCELLED", "order.cancelled", asked.reason);
    return {};
}

Verdict Model::repair(const Asked& asked) {
    if (auto verdict = refused(asked, orders[*asked.thing], {"HELD"})) return *verdict;
    if (!asked.task || tasks[*asked.task].order != *asked.thing) return Verdict::unacceptable();
    const Task& task = tasks[*asked.task];
    if (task.state != "FAILED") return Verdict::wrong_state(task);
    if (asked.word == "SKIP_TASK") return finish(asked, *asked.task, "task.skipped", "order.repaired", asked.reason);
    begin_again(asked, *asked.task, "order.repaired", asked.reason);
    return {};
}

Verdict Model::modify(const Asked& asked) {
    struct Rule {
        States from;
        std::string_view to;
        std::string_view event;
    };
    static const std::map<std::string_view, Rule> rules{{"SUSPEND", {{"ACTIVE"}, "SUSPENDED", "asset.suspended"}},
                                                        {"RESUME", {{"SUSPENDED"}, "ACTIVE", "asset.resumed"}},
                                                        {"END", {{"ACTIVE", "SUSPENDED"}, "ENDED", "asset.ended"}},
                                                        {"SET_QUANTITY", {{"ACTIVE"}, "ACTIVE", "asset.changed"}}};
    Asset& asset = assets[*asked.thing];
    const Rule& rule = rules.at(asked.word);
    if (auto verdict = refused(asked, asset, rule.from)) return *verdict;
    if (asked.new_quantity) asset.quantity = *asked.new_quantity;
    step(asked, Kind::asset, *asked.thing, rule.to, rule.event, asked.reason);
    return {};
}

}  // namespace orders::model
