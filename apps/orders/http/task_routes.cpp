#include "apps/orders/handlers/tasks.hpp"
#include "apps/orders/http/guarded_command.hpp"
#include "apps/orders/http/order_json.hpp"
#include "apps/orders/http/routes.hpp"
#include "apps/orders/http/tagged.hpp"
#include "apps/orders/storage/assets.hpp"
#include "apps/orders/storage/tasks.hpp"

namespace orders {
namespace {

using semel::http::Request;
using semel::http::Response;
namespace problems = semel::http::problems;

std::string etag(const Task& task) { return etag_of("task", task.version); }

CompleteTask completion_in(Fields&, const Target& target) {
    return {.task_id = target.id, .expected_version = target.version};
}

FailTask failure_in(Fields& fields, const Target& target) {
    return {.task_id = target.id, .expected_version = target.version, .reason = fields.subject("reason")};
}

RetryTask retry_in(Fields&, const Target& target) { return {.task_id = target.id, .expected_version = target.version}; }

semel::Reply reply_with(const Task& task) { return done(json_of(task), etag(task)); }

Response get_task(semel::Database& database, const Request& request) {
    const auto id = id_in(request, "id");
    if (!id) return problem_response(id.error(), request);
    const auto task = find_task(database, request.retry.deadline, request.who.tenant, *id);
    if (!task) return unreadable(task.error(), request);
    if (!*task) return no_such("task", request);
    return found_tagged(json_of(**task), etag(**task), request);
}

Response get_tasks(semel::Database& database, const Request& request) {
    const auto slice = slice_of(request, Collection::tasks, {"state", "orderId"});
    if (!slice) return problem_response(slice.error(), request);
    const auto state = filter_choice(request, "state", task_state::all);
    if (!state) return problem_response(state.error(), request);
    const auto order_id = filter_id(request, "orderId");
    if (!order_id) return problem_response(order_id.error(), request);
    auto tasks = list_tasks(database, request.retry.deadline, request.who.tenant,
                            {.state = *state, .order_id = *order_id}, *slice);
    if (!tasks) return unreadable(tasks.error(), request);
    const auto next = next_cursor(*tasks, *slice, Collection::tasks);
    return found(json_of(*tasks, next));
}

}  // namespace

void add_task_routes(Api& api, const RouteContext& context) {
    api.states("TaskState",
               "WAITING for other tasks; READY to be done; FAILED may be retried; COMPLETED and CANCELLED are final.",
               task_state::all);
    const auto refuse = guarded_command("task", completion_in, refuse_taken_instance, reply_with);
    api.command({.path = "/api/v1/fulfillment-tasks/{id}/complete",
                 .operation = "task.complete",
                 .summary = "Tell that a task is done. The last one completes its order.",
                 .reply = "Task",
                 .guarded = "task",
                 .refusals = {problems::duplicate_business_command},
                 .handle = guarded_command("task", completion_in, complete_task, reply_with),
                 .natural_keys = {{.constraint = std::string(active_instance_key), .decide = refuse},
                                  {.constraint = std::string(asset_of_item_key), .decide = refuse}}});
    api.command({.path = "/api/v1/fulfillment-tasks/{id}/fail",
                 .operation = "task.fail",
                 .summary = "Tell that a task failed. Its order is held.",
                 .request = "FailTask",
                 .reply = "Task",
                 .guarded = "task",
                 .handle = guarded_command("task", failure_in, fail_task, reply_with)});
    api.command({.path = "/api/v1/fulfillment-tasks/{id}/retry",
                 .operation = "task.retry",
                 .summary = "Begin another attempt of a task that failed.",
                 .reply = "Task",
                 .guarded = "task",
                 .refusals = {problems::duplicate_business_command},
                 .handle = guarded_command("task", retry_in, retry_task, reply_with),
                 .natural_keys = {{.constraint = std::string(task_attempt_key),
                                   .decide = guarded_command("task", retry_in, refuse_second_attempt, reply_with)}}});
    semel::Database& database = context.database;
    api.read({.path = "/api/v1/fulfillment-tasks",
              .summary = "Tasks, without what they need.",
              .reply = "Task",
              .is_collection = true,
              .filters = {{"state", "Only tasks in this state."}, {"orderId", "Only tasks of this order."}},
              .handle = [&database](const Request& request) { return get_tasks(database, request); }});
    api.read({.path = "/api/v1/fulfillment-tasks/{id}",
              .summary = "One task, with the tasks that it needs.",
              .reply = "Task",
              .etag = "task",
              .handle = [&database](const Request& request) { return get_task(database, request); }});
}

}  // namespace orders
