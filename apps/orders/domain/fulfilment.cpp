#include "apps/orders/domain/fulfilment.hpp"

#include <algorithm>

namespace orders {
namespace {

/// The order at its next version; what it is now is up to `settle`.
Progress begin(const Fulfilment& before) {
    Progress progress{.order = before.order, .from = before.order.state};
    ++progress.order.version;
    return progress;
}

void take(Progress& progress, const Step& step, Task task) {
    std::string from = task.state;
    task.state = step.to;
    ++task.version;
    progress.tasks.push_back({.task = std::move(task), .from = std::move(from), .event = step.event});
}

/// The order's own step, by what is left to do.
void settle(Progress& progress) {
    Order& order = progress.order;
    const Step& step = order.open_task_count == 0    ? order_step::complete
                       : order.failed_task_count > 0 ? order_step::hold
                                                     : order_step::progress;
    order.state = step.to;
    progress.event = step.event;
}

void release_dependents(Progress& progress, const Fulfilment& before, const Task& done) {
    for (const Task& task : before.tasks) {
        if (std::ranges::find(task.needs, done.id) == task.needs.end()) continue;
        Task released = task;
        if (--released.waits_for > 0)
            progress.tasks.push_back({.task = std::move(released), .from = task.state});
        else
            take(progress, task_step::make_ready, std::move(released));
    }
}

}  // namespace

const Task* Fulfilment::find(const semel::Uuid& task_id) const noexcept {
    const auto found = std::ranges::find(tasks, task_id, &Task::id);
    return found == tasks.end() ? nullptr : &*found;
}

Fulfilment plan(const Quote& quote, std::string_view target_date, semel::Timestamp now, const NewId& new_id) {
    Fulfilment made{.order = {.id = new_id(),
                              .quote_id = quote.id,
                              .quote_revision = quote.revision,
                              .customer_id = quote.customer_id,
                              .currency = quote.currency,
                              .sums = quote.sums,
                              .target_date = std::string(target_date),
                              .created_at = now}};
    Order& order = made.order;
    const auto task = [&](std::string_view kind, std::optional<semel::Uuid> item_id) {
        return Task{
            .id = new_id(), .order_id = order.id, .item_id = item_id, .kind = std::string(kind), .created_at = now};
    };
    std::vector<semel::Uuid> provisions;
    for (const QuoteItem& quoted : quote.items) {
        const semel::Uuid id = new_id();
        order.items.push_back({.id = id,
                               .sku = quoted.sku,
                               .quantity = quoted.quantity,
                               .instance_key = quoted.instance_key.empty() ? id.text() : quoted.instance_key,
                               .sums = quoted.price.sums});
        Task reserve = task(task_kind::reserve, id);
        reserve.state = task_state::ready;
        Task provision = task(task_kind::provision, id);
        provision.needs = {reserve.id};
        provision.waits_for = 1;
        provisions.push_back(provision.id);
        made.tasks.push_back(std::move(reserve));
        made.tasks.push_back(std::move(provision));
    }
    Task activate = task(task_kind::activate, std::nullopt);
    activate.waits_for = static_cast<std::int64_t>(provisions.size());
    if (provisions.empty()) activate.state = task_state::ready;
    activate.needs = std::move(provisions);
    made.tasks.push_back(std::move(activate));
    order.task_count = static_cast<std::int64_t>(made.tasks.size());
    order.open_task_count = order.task_count;
    return made;
}

std::optional<Refusal> obstacle(const Step& step, const Fulfilment& found, const Task& task,
                                std::optional<std::int64_t> expected_version) {
    if (auto refusal = obstacle(step, task.snapshot(), expected_version.value_or(task.version))) return refusal;
    return obstacle(order_step::progress, found.order.snapshot(), found.order.version);
}

std::optional<Progress> after_start(const Fulfilment& before) {
    if (!order_step::progress.allowed_from(before.order.state)) return std::nullopt;
    Progress progress = begin(before);
    for (const Task& task : before.tasks)
        if (task_step::start.allowed_from(task.state)) take(progress, task_step::start, task);
    if (progress.tasks.empty()) return std::nullopt;
    settle(progress);
    return progress;
}

Progress after_completion(const Fulfilment& before, const Task& task, const Step& step) {
    Progress progress = begin(before);
    if (task.state == task_state::failed) --progress.order.failed_task_count;
    --progress.order.open_task_count;
    take(progress, step, task);
    release_dependents(progress, before, task);
    settle(progress);
    return progress;
}

Progress after_failure(const Fulfilment& before, const Task& task, std::string_view reason) {
    Progress progress = begin(before);
    ++progress.order.failed_task_count;
    Task failed = task;
    failed.failure = reason;
    take(progress, task_step::fail, std::move(failed));
    settle(progress);
    return progress;
}

Progress after_retry(const Fulfilment& before, const Task& task) {
    Progress progress = begin(before);
    --progress.order.failed_task_count;
    Task again = task;
    again.failure.clear();
    ++again.attempt;
    take(progress, task_step::retry, std::move(again));
    settle(progress);
    return progress;
}

Progress after_cancellation(const Fulfilment& before) {
    Progress progress = begin(before);
    for (const Task& task : before.tasks)
        if (task_step::cancel.allowed_from(task.state)) take(progress, task_step::cancel, task);
    progress.order.open_task_count = 0;
    progress.order.failed_task_count = 0;
    progress.order.state = order_step::cancel.to;
    progress.event = order_step::cancel.event;
    return progress;
}

std::vector<Asset> assets_of(const Order& order, semel::Timestamp now, const NewId& new_id) {
    std::vector<Asset> assets;
    assets.reserve(order.items.size());
    for (const OrderItem& item : order.items)
        assets.push_back({.id = new_id(),
                          .order_id = order.id,
                          .item_id = item.id,
                          .customer_id = order.customer_id,
                          .instance_key = item.instance_key,
                          .sku = item.sku,
                          .quantity = item.quantity,
                          .created_at = now});
    std::ranges::sort(assets, {}, &Asset::instance_key);
    return assets;
}

}  // namespace orders
