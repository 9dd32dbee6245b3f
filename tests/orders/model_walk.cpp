#include "tests/orders/model_walk.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace orders::model {
namespace {

/// A command, how often it is drawn, and the states in which it makes sense.
struct Drawn {
    std::string_view operation;
    std::uint64_t weight;
    States states;
};

const std::vector<Drawn>& drawn() {
    static const std::vector<Drawn> all{
        {"quote.create", 7, {}},
        {"quote.add_item", 20, {"DRAFT"}},
        {"quote.reprice", 9, {"DRAFT"}},
        {"quote.submit", 10, {"DRAFT"}},
        {"quote.approve", 12, {"SUBMITTED"}},
        {"quote.reject", 2, {"SUBMITTED"}},
        {"quote.accept", 9, {"APPROVED"}},
        {"quote.revise", 3, {"SUBMITTED", "APPROVED", "REJECTED", "EXPIRED"}},
        {"quote.convert", 9, {"ACCEPTED"}},
        {"task.complete", 40, {"READY"}},
        {"task.fail", 7, {"READY"}},
        {"task.retry", 6, {"FAILED"}},
        {"order.cancel", 2, {"CREATED", "IN_PROGRESS", "HELD"}},
        {"order.repair", 6, {"HELD"}},
        {"asset.modify", 14, {"ACTIVE", "SUSPENDED"}},
    };
    return all;
}

/// Enough items for orders of many tasks, and few enough that orders get done.
constexpr std::size_t lines_wanted = 3;

/// Those in a state in which the command makes sense.
std::vector<std::size_t> fitting(const Model& model, const Drawn& command) {
    const Kind kind = kind_of(command.operation);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < model.count(kind); ++i) {
        if (std::ranges::find(command.states, model.at(kind, i).state) == command.states.end()) continue;
        if (command.operation == "quote.add_item" && model.quotes[i].lines.size() >= lines_wanted) continue;
        if (command.operation == "quote.submit" && model.quotes[i].lines.empty()) continue;
        found.push_back(i);
    }
    return found;
}

}  // namespace

Kind kind_of(std::string_view operation) {
    if (operation.starts_with("quote.")) return Kind::quote;
    if (operation.starts_with("order.")) return Kind::order;
    return operation.starts_with("task.") ? Kind::task : Kind::asset;
}

std::string_view Walk::one_of(std::initializer_list<std::string_view> words) {
    return *std::next(words.begin(), static_cast<std::ptrdiff_t>(below(words.size())));
}

std::string Walk::some_sku(const Model& model) {
    // One in six is nothing that the catalogue knows.
    const std::size_t drawn_one = below(model.catalogue.size() + 1);
    if (drawn_one == model.catalogue.size()) return "chair";
    return std::next(model.catalogue.begin(), static_cast<std::ptrdiff_t>(drawn_one))->first;
}

std::optional<std::size_t> Walk::some_open_quote(const Model& model) {
    // By its state first, or it would nearly always be a draft.
    const std::string_view state = one_of({"DRAFT", "SUBMITTED", "APPROVED", "ACCEPTED"});
    const auto found = fitting(model, {"quote.expire", 1, {state}});
    if (found.empty()) return std::nullopt;
    return found[below(found.size())];
}

void Walk::change_catalogue(Catalogue& catalogue) {
    for (auto& [sku, product] : catalogue) {
        if (chance(2)) continue;
        product.tax_rate = static_cast<std::int64_t>(below(30)) * 100 + 50;
        for (auto& [currency, price] : product.list_prices) price += static_cast<std::int64_t>(below(1'000)) * 100;
    }
}

void Walk::fill_in(Asked& asked, const Model& model) {
    constexpr std::array<std::int64_t, 10> quantities{1, 2, 5, 7, 8, 10, 25, 49, 50, 120};
    asked.caller = one_of({"seller-1", "seller-2"});
    if (asked.operation == "quote.create") {
        asked.customer = one_of({"c-1", "c-2"});
        asked.currency = one_of({"EUR", "EUR", "EUR", "USD", "JPY", "KWD"});
    } else if (asked.operation == "quote.add_item") {
        asked.sku = some_sku(model);
        asked.quantity = quantities[below(quantities.size())];
        const bool is_listed = asked.thing && model.catalogue.contains(asked.sku) &&
                               model.catalogue.at(asked.sku).list_prices.contains(model.quotes[*asked.thing].currency);
        if (is_listed ? chance(4) : !chance(5)) asked.unit_price = static_cast<std::int64_t>(below(5'000'000));
        if (chance(3)) asked.instance_key = "line-" + std::to_string(below(8));
    } else if (asked.operation == "quote.reprice") {
        if (chance(2)) asked.run = one_of({"run-1", "run-2"});
    } else if (asked.operation == "quote.approve" || asked.operation == "quote.reject") {
        asked.caller = one_of({"approver-1", "approver-2", "approver-3"});
        if (asked.operation == "quote.reject" || chance(2)) asked.reason = one_of({"as always", "it is late"});
    } else if (asked.operation == "order.repair") {
        asked.word = one_of({"SKIP_TASK", "RESET_TASK"});
        asked.reason = "seen to by hand";
        if (!asked.thing) return;
        const auto& tasks = model.orders[*asked.thing].tasks;
        const auto failed =
            std::ranges::find(tasks, "FAILED", [&](std::size_t task) { return model.tasks[task].state; });
        if (failed != tasks.end() && !chance(5))
            asked.task = *failed;
        else if (!chance(4))
            asked.task = below(model.tasks.size());
    } else if (asked.operation == "asset.modify") {
        const bool is_suspended = asked.thing && model.assets[*asked.thing].state == "SUSPENDED";
        const std::string_view sensible = is_suspended ? "RESUME" : "SUSPEND";
        asked.word = one_of({sensible, sensible, is_suspended ? "SUSPEND" : "RESUME", "END", "SET_QUANTITY"});
        if ((asked.word == "SET_QUANTITY") != chance(10)) asked.new_quantity = quantities[below(quantities.size())];
        if (chance(2)) asked.reason = "on request";
    } else if (asked.operation == "task.fail" || asked.operation == "order.cancel") {
        asked.reason = one_of({"none left", "out of order"});
    }
}

Asked Walk::next(const Model& model) {
    std::uint64_t total = 0;
    for (const Drawn& command : drawn()) total += command.weight;
    for (int tries = 0; tries < 50; ++tries) {
        std::uint64_t point = random_.below(total);
        const Drawn* command = drawn().data();
        for (; point >= command->weight; ++command) point -= command->weight;
        Asked asked{.operation = std::string(command->operation)};
        if (asked.operation == "quote.create") {
            fill_in(asked, model);
            return asked;
        }
        const Kind kind = kind_of(asked.operation);
        std::vector<std::size_t> found = fitting(model, *command);
        if (chance(6))
            for (std::size_t i = 0; i < model.count(kind); ++i) found.push_back(i);
        if (found.empty()) continue;
        asked.thing = found[below(found.size())];
        asked.version = model.at(kind, *asked.thing).version;
        if (chance(10)) asked.version = *asked.version > 1 && !chance(4) ? *asked.version - 1 : *asked.version + 1;
        if (chance(60)) asked.version.reset();
        if (chance(60)) asked.thing.reset();
        fill_in(asked, model);
        return asked;
    }
    Asked asked{.operation = "quote.create"};
    fill_in(asked, model);
    return asked;
}

std::vector<Asked> Walk::senseless(const Model& model) {
    std::vector<Asked> all;
    for (const Drawn& command : drawn()) {
        if (command.states.empty()) continue;
        const Kind kind = kind_of(command.operation);
        std::map<std::string, std::vector<std::size_t>> by_state;
        for (std::size_t i = 0; i < model.count(kind); ++i) by_state[model.at(kind, i).state].push_back(i);
        for (const auto& [state, things] : by_state) {
            if (std::ranges::find(command.states, state) != command.states.end()) continue;
            Asked asked{.operation = std::string(command.operation), .thing = things[below(things.size())]};
            asked.version = model.at(kind, *asked.thing).version;
            fill_in(asked, model);
            all.push_back(std::move(asked));
        }
    }
    return all;
}

}  // namespace orders::model
