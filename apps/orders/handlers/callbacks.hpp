#pragma once

#include "apps/orders/domain/refusal.hpp"
#include "semel/base/id.hpp"
#include "semel/command/command.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace orders {

namespace callback_type {

inline constexpr std::string_view task_completed = "task.completed";
inline constexpr std::string_view task_failed = "task.failed";

}  // namespace callback_type

/// What another system tells of a task that it was asked to do.
struct ReceiveCallback {
    std::string integration;
    std::string type;  ///< One of callback_type.
    semel::Uuid task_id;
    std::int64_t attempt = 1;  ///< Of the task, which the sender was asked for.
    std::string reason{};      ///< Of a failure.
};

/// What became of a callback.
enum class Received : std::uint8_t {
    applied,       ///< The task is what it tells.
    already_done,  ///< It was so already, and nothing was changed.
    superseded,    ///< It tells of an attempt that another has followed; nothing was changed.
};

/// There are no versions in what others tell us: the task is taken as it is, and its state decides. What it says twice,
/// under two ids, is done once; and what it says of an earlier attempt is not taken for the present one's. Refused with
/// NoSuch, WrongState or Unacceptable (an attempt that there was not yet): nothing is kept then, so that a callback that
/// came before its time is taken when it is delivered again.
[[nodiscard]] semel::Result<Handled<Received>> receive_callback(const ReceiveCallback& asked, semel::Work& work);

/// An asset stands in the way of the completion that was told: names it.
[[nodiscard]] semel::Result<Handled<Received>> refuse_callback_of_taken_instance(const ReceiveCallback& asked,
                                                                                 semel::Work& work);

}  // namespace orders
