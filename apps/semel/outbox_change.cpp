#include "apps/semel/actor.hpp"
#include "apps/semel/duration.hpp"
#include "apps/semel/outbox.hpp"
#include "apps/semel/progress.hpp"
#include "apps/semel/report.hpp"
#include "apps/semel/store.hpp"
#include "semel/db/value.hpp"
#include "semel/outbox/parked.hpp"
#include "semel/outbox/replay.hpp"
#include "semel/outbox/retention.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

// The verbs of `semel outbox` that change something.

namespace semel::app {
namespace {

using nlohmann::ordered_json;

/// In one transaction: small enough to hold nobody up.
constexpr std::size_t replay_batch_max = 500;

template <class T>
Result<T> committed(Outcome<T> outcome, std::string_view what) {
    if (outcome.committed()) return std::move(outcome).value();
    const bool unknown = outcome.unknown();
    Error error = std::move(outcome).error();
    if (unknown && error.cause.hint.empty()) error.cause.hint = "it may have been done: look, or ask again";
    return fail(std::move(error).within(what));
}

Result<ExitCode> redrive(const RedriveArguments& arguments) {
    const Aggregate aggregate = SEMEL_TRY(parse_aggregate(arguments.aggregate));
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    const auto parked = SEMEL_TRY(Parked::of(*opened.database));
    const std::int64_t sent = SEMEL_TRY(
        committed(parked.redrive(arguments.tenant, aggregate, soon(*opened.database)), "redrive the aggregate"));
    if (arguments.json)
        std::puts(ordered_json{{"redriven", sent}}.dump(2).c_str());
    else if (sent > 0)
        std::printf("redriven %lld events\n", static_cast<long long>(sent));
    else
        std::printf("nothing of this aggregate is parked; nothing was done. Is the tenant right?\n");
    return sent > 0 ? ExitCode::ok : ExitCode::finding;
}

/// What was asked for, for the audit.
std::string detail_of(const ReplayArguments& arguments) {
    ordered_json detail = ordered_json::object();
    const auto add = [&detail](const char* name, const std::string& value) {
        if (!value.empty()) detail[name] = value;
    };
    add("type", arguments.events.type);
    add("since", arguments.events.since);
    add("until", arguments.events.until);
    add("aggregate", arguments.events.aggregate);
    add("tenant", arguments.events.tenant);
    detail["limit"] = arguments.limit;
    return detail.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// What a person should know before consumers get events that they may have forgotten.
std::string warning_for(const ReplayPlan& plan, Duration window, Timestamp now) {
    if (!plan.oldest || now - *plan.oldest <= window) return {};
    return fmt::format(
        "the oldest of them is {} old, longer than the dedup window of {}: consumers that no longer "
        "remember it will take it for new",
        duration_text(now - *plan.oldest), duration_text(window));
}

Result<std::int64_t> send_all(Database& database, const EventReplay& replay, const ReplayPlan& plan,
                              const ReplayArguments& arguments) {
    const OutboxAudit audit{
        .id = new_uuid(), .action = "replay", .actor = actor_of(arguments.actor), .detail = detail_of(arguments)};
    const std::size_t batch = std::min(arguments.rate, replay_batch_max);
    const Duration pause = Duration(std::chrono::seconds(1)) * batch / arguments.rate;
    std::int64_t sent = 0;
    Instant next = database.clock().now();
    for (std::size_t at = 0; at < plan.events.size(); at += batch) {
        database.clock().sleep(next, {});
        next += pause;
        const auto some = std::span(plan.events).subspan(at, std::min(batch, plan.events.size() - at));
        sent += SEMEL_TRY(
            committed(replay.send(some, audit, soon(database)), fmt::format("replay, after {} events", sent)));
        show_progress("replay", sent, at + batch >= plan.events.size());
    }
    return sent;
}

Result<ExitCode> replay(const ReplayArguments& arguments) {
    const Timestamp now = system_clock().wall();
    const ReplayFilter filter = SEMEL_TRY(filter_of(arguments.events, arguments.limit, now));
    const Duration window = SEMEL_TRY(parse_duration(arguments.dedup_window));
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    Database& database = *opened.database;
    const auto replay = SEMEL_TRY(EventReplay::of(database));
    const ReplayPlan plan = SEMEL_TRY(replay.find(filter, soon(database)));
    const std::string warning = warning_for(plan, window, now);
    if (!warning.empty()) std::fprintf(stderr, "semel outbox replay: %s\n", warning.c_str());
    const std::int64_t sent = arguments.dry_run ? 0 : SEMEL_TRY(send_all(database, replay, plan, arguments));
    if (arguments.json) {
        ordered_json body{{"found", plan.events.size()}, {"replayed", sent}, {"dryRun", arguments.dry_run}};
        body["oldest"] = plan.oldest ? ordered_json(timestamp_text(*plan.oldest)) : ordered_json();
        body["warning"] = warning.empty() ? ordered_json() : ordered_json(warning);
        std::puts(body.dump(2).c_str());
    } else if (plan.events.empty()) {
        std::puts("no event that has left matches; nothing was done");
    } else if (arguments.dry_run) {
        std::printf("would replay %zu events\n", plan.events.size());
    } else {
        std::printf("replayed %lld events\n", static_cast<long long>(sent));
    }
    return plan.events.empty() ? ExitCode::finding : ExitCode::ok;
}

Result<ExitCode> prune(const PruneArguments& arguments) {
    const Duration age = SEMEL_TRY(parse_duration(arguments.older_than));
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    Database& database = *opened.database;
    const auto retention = SEMEL_TRY(OutboxRetention::of(database));
    const OutboxAudit audit{.id = new_uuid(),
                            .action = "prune",
                            .actor = actor_of(arguments.actor),
                            .detail = "older than " + arguments.older_than};
    std::int64_t deleted = 0;
    OutboxRetention::Batch batch{.more = true};
    while (batch.more) {
        batch = SEMEL_TRY(committed(retention.prune(age, batch.last, arguments.batch, audit, soon(database)),
                                    fmt::format("prune, after {} events", deleted)));
        deleted += batch.deleted;
        show_progress("prune", deleted, !batch.more);
    }
    if (arguments.json)
        std::puts(ordered_json{{"deleted", deleted}}.dump(2).c_str());
    else
        std::printf("deleted %lld events\n", static_cast<long long>(deleted));
    return ExitCode::ok;
}

}  // namespace

ExitCode outbox_redrive(const RedriveArguments& arguments) {
    return report("outbox redrive", redrive(arguments), arguments.json);
}
ExitCode outbox_replay(const ReplayArguments& arguments) {
    return report("outbox replay", replay(arguments), arguments.json);
}
ExitCode outbox_prune(const PruneArguments& arguments) {
    return report("outbox prune", prune(arguments), arguments.json);
}

}  // namespace semel::app
