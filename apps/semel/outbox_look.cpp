#include "apps/semel/duration.hpp"
#include "apps/semel/outbox.hpp"
#include "apps/semel/report.hpp"
#include "apps/semel/store.hpp"
#include "semel/db/value.hpp"
#include "semel/outbox/parked.hpp"
#include "semel/outbox/replay_audit.hpp"
#include "semel/outbox/status.hpp"
#include "semel/outbox/status_events.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

// The verbs of `semel outbox` that change nothing.

namespace semel::app {
namespace {

using nlohmann::ordered_json;

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

/// Texts of others may be in any encoding; a broken character must not lose the answer.
void print(const ordered_json& body) {
    std::puts(body.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

double seconds(Duration length) { return std::chrono::duration<double>(length).count(); }

ordered_json json_of(const OutboxStatus& status) {
    ordered_json partitions = ordered_json::array();
    for (const PartitionStatus& one : status.partitions)
        partitions.push_back({{"partition", one.partition},
                              {"pending", one.pending},
                              {"waiting", one.waiting},
                              {"epoch", one.epoch},
                              {"owner", one.owner ? ordered_json(one.owner->text()) : ordered_json()},
                              {"leaseSecondsLeft", one.owner ? seconds(one.lease_left) : 0.0}});
    ordered_json relays = ordered_json::array();
    for (const RelayStatus& one : status.relays)
        relays.push_back({{"id", one.id.text()},
                          {"name", one.name},
                          {"alive", one.alive},
                          {"secondsSinceSeen", seconds(one.seen_ago)},
                          {"partitions", one.partitions}});
    const FeedStatus& feed = status.feed;
    ordered_json about{{"mode", feed.mode}};
    if (!feed.slot.empty())
        about.update(
            {{"slot", feed.slot},
             {"slotExists", feed.slot_exists},
             {"slotActive", feed.slot_active},
             {"retainedBytes", feed.retained_bytes ? ordered_json(*feed.retained_bytes) : ordered_json()},
             {"secondsSinceStreamed", feed.streamed_ago ? ordered_json(seconds(*feed.streamed_ago)) : ordered_json()},
             {"slotsLost", feed.slots_lost}});
    if (!feed.trouble.empty()) about["trouble"] = feed.trouble;
    return {{"feed", about},
            {"pending", status.pending},
            {"waiting", status.waiting},
            {"oldestSeconds", status.oldest_age ? ordered_json(seconds(*status.oldest_age)) : ordered_json()},
            {"parked", status.parked},
            {"relays", relays},
            {"partitions", partitions}};
}

std::string text_of(const OutboxStatus& status) {
    std::string text = fmt::format("pending {}", status.pending);
    if (status.oldest_age) text += fmt::format(", the oldest for {}", duration_text(*status.oldest_age));
    if (status.waiting > 0) text += fmt::format(", {} of them after a failed attempt", status.waiting);
    text += fmt::format("\nparked {}{}\n", status.parked, status.parked > 0 ? " (semel outbox parked)" : "");
    const FeedStatus& feed = status.feed;
    text += "mode " + feed.mode;
    if (feed.mode != "polling")
        text += fmt::format(", slot {} {}, {} MiB of log kept back", feed.slot, feed.slot_active ? "in use" : "idle",
                            feed.retained_bytes.value_or(0) >> 20U);
    text += "\n";
    if (!feed.trouble.empty()) text += "TROUBLE: " + feed.trouble + "\n";
    if (status.relays.empty()) text += "no relay is at work\n";
    for (const RelayStatus& one : status.relays)
        text += fmt::format("relay {} {}: {}, seen {} ago, {} partitions\n", one.name, one.id.text(),
                            one.alive ? "alive" : "not heard of", duration_text(one.seen_ago), one.partitions);
    for (const PartitionStatus& one : status.partitions)
        if (one.pending > 0)
            text += fmt::format("partition {}: {} pending, {}\n", one.partition, one.pending,
                                one.owner ? "lease for " + duration_text(one.lease_left) : "nobody's");
    return text;
}

std::string_view state_of(const EventStatus& event) {
    if (event.parked_because) return "parked";
    return event.pending ? "pending" : "left";
}

ordered_json json_of(const EventStatus& event, bool whole) {
    const Message& message = event.message;
    ordered_json body{
        {"id", message.id.text()},
        {"state", state_of(event)},
        {"type", message.type},
        {"tenant", message.tenant},
        {"aggregate", message.aggregate.type + "/" + message.aggregate.id},
        {"aggregateVersion", message.aggregate.version ? ordered_json(*message.aggregate.version) : ordered_json()},
        {"createdAt", timestamp_text(message.created_at)},
        {"position", message.position},
        {"partition", message.partition},
        {"attempts", event.attempts},
        {"nextAttemptSeconds", event.next_attempt_in ? ordered_json(seconds(*event.next_attempt_in)) : ordered_json()},
        {"lastError", event.last_error},
        {"parkedBecause", event.parked_because ? ordered_json(*event.parked_because) : ordered_json()}};
    if (whole) {
        // As text: whoever parses it decides what becomes of large numbers.
        body["headers"] = message.headers;
        body["payload"] = message.payload;
    }
    return body;
}

std::string line_of(const EventStatus& event) {
    const Message& message = event.message;
    std::string line = fmt::format("{} {} {}/{} {}", message.id.text(), timestamp_text(message.created_at),
                                   message.aggregate.type, message.aggregate.id, message.type);
    if (event.attempts > 0) line += fmt::format(", {} failed attempts: {}", event.attempts, event.last_error);
    if (event.next_attempt_in) line += fmt::format(", next in {}", duration_text(*event.next_attempt_in));
    return line + "\n";
}

std::string text_of(const EventStatus& event) {
    const Message& message = event.message;
    std::string text =
        fmt::format("event {}\nstate {}\ntype {}\ntenant {}\naggregate {}/{}\ncreated {}\nposition {}, partition {}\n",
                    message.id.text(), state_of(event), message.type, message.tenant, message.aggregate.type,
                    message.aggregate.id, timestamp_text(message.created_at), message.position, message.partition);
    if (message.aggregate.version) text += fmt::format("version {}\n", *message.aggregate.version);
    if (event.parked_because) text += fmt::format("parked because {}\n", *event.parked_because);
    if (event.attempts > 0) text += fmt::format("failed attempts {}, the last: {}\n", event.attempts, event.last_error);
    return text + fmt::format("headers {}\npayload {}\n", message.headers, message.payload);
}

Result<ExitCode> status(const OutboxArguments& arguments) {
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    const OutboxStatus found = SEMEL_TRY(semel::outbox_status(*opened.database, soon(*opened.database)));
    if (arguments.json)
        print(json_of(found));
    else
        print(text_of(found));
    return ExitCode::ok;
}

Result<ExitCode> list(const OutboxArguments& arguments) {
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    const auto events = SEMEL_TRY(list_pending(*opened.database, arguments.limit, soon(*opened.database)));
    ordered_json body = ordered_json::array();
    for (const EventStatus& one : events) {
        if (arguments.json)
            body.push_back(json_of(one, false));
        else
            print(line_of(one));
    }
    if (arguments.json) print(body);
    return ExitCode::ok;
}

Result<ExitCode> show(const OutboxArguments& arguments, const std::string& text) {
    const Uuid id = SEMEL_TRY(Uuid::parse(text));
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    const auto event = SEMEL_TRY(show_event(*opened.database, id, soon(*opened.database)));
    if (arguments.json)
        print(event ? json_of(*event, true) : ordered_json());
    else
        print(event ? text_of(*event) : "there is no such event, or no longer\n");
    return event ? ExitCode::ok : ExitCode::finding;
}

Result<ExitCode> parked(const OutboxArguments& arguments) {
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    const auto store = SEMEL_TRY(Parked::of(*opened.database));
    const auto events = SEMEL_TRY(store.list(arguments.limit, soon(*opened.database)));
    ordered_json body = ordered_json::array();
    for (const ParkedEvent& one : events) {
        const std::string aggregate = one.aggregate.type + "/" + one.aggregate.id;
        if (arguments.json)
            body.push_back({{"id", one.id.text()},
                            {"tenant", one.tenant},
                            {"aggregate", aggregate},
                            {"attempts", one.attempts},
                            {"reason", one.reason},
                            {"blocks", one.blocks},
                            {"parkedAt", timestamp_text(one.parked_at)},
                            {"position", one.position}});
        else
            print(fmt::format("{} {} tenant {} {}: {}\n", one.id.text(), timestamp_text(one.parked_at), one.tenant,
                              aggregate, one.reason));
    }
    if (arguments.json) print(body);
    return ExitCode::ok;
}

Result<ExitCode> audit(const OutboxArguments& arguments) {
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    const auto entries = SEMEL_TRY(list_audit(*opened.database, arguments.limit, soon(*opened.database)));
    ordered_json body = ordered_json::array();
    for (const OutboxAuditEntry& one : entries) {
        if (arguments.json)
            body.push_back({{"id", one.audit.id.text()},
                            {"action", one.audit.action},
                            {"actor", one.audit.actor},
                            {"detail", one.audit.detail},
                            {"events", one.events},
                            {"begunAt", timestamp_text(one.begun_at)}});
        else
            print(fmt::format("{} {} by {}: {} events ({})\n", timestamp_text(one.begun_at), one.audit.action,
                              one.audit.actor, one.events, one.audit.detail));
    }
    if (arguments.json) print(body);
    return ExitCode::ok;
}

}  // namespace

ExitCode outbox_status(const OutboxArguments& arguments) {
    return report("outbox status", status(arguments), arguments.json);
}
ExitCode outbox_list(const OutboxArguments& arguments) {
    return report("outbox list", list(arguments), arguments.json);
}
ExitCode outbox_show(const OutboxArguments& arguments, const std::string& id) {
    return report("outbox show", show(arguments, id), arguments.json);
}
ExitCode outbox_parked(const OutboxArguments& arguments) {
    return report("outbox parked", parked(arguments), arguments.json);
}
ExitCode outbox_audit(const OutboxArguments& arguments) {
    return report("outbox audit", audit(arguments), arguments.json);
}

}  // namespace semel::app
