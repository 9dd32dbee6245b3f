#pragma once

#include "apps/orders/domain/price.hpp"
#include "apps/orders/domain/step.hpp"
#include "semel/base/id.hpp"
#include "semel/base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

namespace order_state {

inline constexpr std::string_view created = "CREATED";          ///< Nothing was done for it yet.
inline constexpr std::string_view in_progress = "IN_PROGRESS";  ///< Some of its tasks are begun or done.
inline constexpr std::string_view held = "HELD";                ///< A task failed: retry it, or repair the order.
inline constexpr std::string_view completed = "COMPLETED";      ///< Final; the customer has what was ordered.
inline constexpr std::string_view cancelled = "CANCELLED";      ///< Final.
inline constexpr std::array all{created, in_progress, held, completed, cancelled};

}  // namespace order_state

namespace task_state {

inline constexpr std::string_view waiting = "WAITING";      ///< For tasks that it depends on.
inline constexpr std::string_view ready = "READY";          ///< May be started.
inline constexpr std::string_view running = "RUNNING";      ///< Somebody is at it.
inline constexpr std::string_view completed = "COMPLETED";  ///< Final.
inline constexpr std::string_view failed = "FAILED";        ///< May be retried.
inline constexpr std::string_view cancelled = "CANCELLED";  ///< Final; with its order.
inline constexpr std::array all{waiting, ready, running, completed, failed, cancelled};

}  // namespace task_state

/// What the world is told when there is one.
inline constexpr std::string_view order_created_event = "order.created";
inline constexpr std::string_view task_created_event = "task.created";

// The life of an order. Most of its steps are taken by its tasks.
namespace order_step {

using order_state::cancelled;
using order_state::completed;
using order_state::created;
using order_state::held;
using order_state::in_progress;

inline constexpr Step progress{.from = {created, in_progress, held}, .to = in_progress, .event = "order.progressed"};
inline constexpr Step hold{.from = {created, in_progress, held}, .to = held, .event = "order.held"};
inline constexpr Step complete{.from = {created, in_progress, held}, .to = completed, .event = "order.completed"};
inline constexpr Step cancel{.from = {created, in_progress, held}, .to = cancelled, .event = "order.cancelled"};
inline constexpr Step repair{.from = {held}, .to = in_progress, .event = "order.repaired"};

}  // namespace order_step

// The life of a task.
namespace task_step {

using task_state::cancelled;
using task_state::completed;
using task_state::failed;
using task_state::ready;
using task_state::running;
using task_state::waiting;

inline constexpr Step make_ready{.from = {waiting}, .to = ready, .event = "task.ready"};
inline constexpr Step start{.from = {ready}, .to = running, .event = "task.started"};
inline constexpr Step complete{.from = {ready, running}, .to = completed, .event = "task.completed"};
inline constexpr Step fail{.from = {ready, running}, .to = failed, .event = "task.failed"};
inline constexpr Step retry{.from = {failed}, .to = ready, .event = "task.retried"};
inline constexpr Step skip{.from = {failed}, .to = completed, .event = "task.skipped"};
inline constexpr Step cancel{.from = {waiting, ready, running, failed}, .to = cancelled, .event = "task.cancelled"};

}  // namespace task_step

namespace task_kind {

inline constexpr std::string_view reserve = "RESERVE";      ///< Of one item: see that it is there.
inline constexpr std::string_view provision = "PROVISION";  ///< Of one item: set it up; needs its reservation.
inline constexpr std::string_view activate = "ACTIVATE";  ///< Of the order: hand over; needs all that was provisioned.

}  // namespace task_kind

struct OrderItem {
    semel::Uuid id;
    std::string sku;
    std::int64_t quantity = 1;
    std::string instance_key;  ///< Never empty: what is nothing in particular runs on itself.
    Sums sums;
};

/// Something to be done for an order.
struct Task {
    semel::Uuid id;
    semel::Uuid order_id;
    std::optional<semel::Uuid> item_id{};  ///< None: for the order as a whole.
    std::string kind;
    std::string state{task_state::waiting};
    std::int64_t version = 1;
    std::int64_t attempt = 1;
    std::int64_t waits_for = 0;  ///< How many of `needs` are not completed.
    std::string failure{};       ///< Of the last attempt; empty: none.
    semel::Timestamp created_at{};
    std::vector<semel::Uuid> needs{};  ///< Empty where only the head was read.

    [[nodiscard]] Snapshot snapshot() const noexcept { return {.kind = "task", .state = state, .version = version}; }
};

/// What a quote revision became when it was converted.
struct Order {
    semel::Uuid id;
    semel::Uuid quote_id;
    std::int64_t quote_revision = 1;
    std::string customer_id;
    std::string currency;
    std::string state{order_state::created};
    std::int64_t version = 1;
    Sums sums;
    std::string target_date{};  ///< "2026-12-01"; empty: as soon as possible.
    std::int64_t task_count = 0;
    std::int64_t open_task_count = 0;  ///< Neither completed nor cancelled.
    std::int64_t failed_task_count = 0;
    semel::Timestamp created_at{};
    std::vector<OrderItem> items{};  ///< Empty where only the head was read.

    [[nodiscard]] Snapshot snapshot() const noexcept { return {.kind = "order", .state = state, .version = version}; }
};

}  // namespace orders
