#include "apps/semel/outbox_command.hpp"

#include "apps/semel/outbox.hpp"
#include "apps/semel/store_verb.hpp"
#include "apps/semel/unknown_types.hpp"

#include <memory>

namespace semel::app {
namespace {

/// A replay holds the ids of its events in memory, and a person should look before sending more than this.
constexpr std::size_t replay_limit_max = 100'000;
constexpr std::size_t list_limit_max = 10'000;

void add_limit(CLI::App& verb, OutboxArguments& arguments, std::size_t most) {
    verb.add_option("--limit", arguments.limit, "The first so many")
        ->check(CLI::Range(std::size_t{1}, most))
        ->capture_default_str();
}

void add_selection(CLI::App& verb, EventSelection& events) {
    verb.add_option("--type", events.type, "Only events of this type");
    verb.add_option("--since", events.since, "Created at or after: 2026-01-31T23:59:59Z, or how long ago: 2h");
    verb.add_option("--until", events.until, "Created before");
    verb.add_option("--aggregate", events.aggregate, "Only of this one: TYPE/ID");
    verb.add_option("--tenant", events.tenant, "Only of this tenant");
}

void add_look(CLI::App& outbox, ExitCode& code, const char* name, const char* help, bool limited,
              ExitCode (*look)(const OutboxArguments&)) {
    const auto arguments = std::make_shared<OutboxArguments>();
    CLI::App* verb = add_store_verb(outbox, name, help, arguments->database, arguments->json);
    if (limited) add_limit(*verb, *arguments, list_limit_max);
    verb->callback([arguments, look, &code] { code = look(*arguments); });
}

void add_show(CLI::App& outbox, ExitCode& code) {
    const auto arguments = std::make_shared<OutboxArguments>();
    const auto id = std::make_shared<std::string>();
    CLI::App* verb = add_store_verb(outbox, "show", "One event and where it stands; exit code 1 if there is none",
                                    arguments->database, arguments->json);
    verb->add_option("id", *id, "The event's id")->required();
    verb->callback([arguments, id, &code] { code = outbox_show(*arguments, *id); });
}

void add_redrive(CLI::App& outbox, ExitCode& code) {
    const auto arguments = std::make_shared<RedriveArguments>();
    CLI::App* verb = add_store_verb(
        outbox, "redrive", "Send what is parked of one aggregate once more, in order; exit code 1 if nothing is",
        arguments->database, arguments->json);
    verb->add_option("--aggregate", arguments->aggregate, "TYPE/ID")->required();
    verb->add_option("--tenant", arguments->tenant, "The aggregate's tenant; empty if not given");
    verb->callback([arguments, &code] { code = outbox_redrive(*arguments); });
}

void add_replay(CLI::App& outbox, ExitCode& code) {
    const auto arguments = std::make_shared<ReplayArguments>();
    arguments->limit = 1000;
    CLI::App* verb = add_store_verb(
        outbox, "replay",
        "Send events once more that have left, under their own ids; audited; exit code 1 if none matches",
        arguments->database, arguments->json);
    add_selection(*verb, arguments->events);
    add_limit(*verb, *arguments, replay_limit_max);
    verb->add_option("--rate", arguments->rate, "Events per second")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    verb->add_option("--dedup-window", arguments->dedup_window,
                     "How long consumers remember; warns about events that are older")
        ->capture_default_str();
    verb->add_option("--by", arguments->actor, "Who does it, for the audit; user@machine if not given");
    verb->add_flag("--dry-run", arguments->dry_run, "Say what would be sent; change nothing");
    verb->callback([arguments, &code] { code = outbox_replay(*arguments); });
}

void add_check(CLI::App& outbox, ExitCode& code) {
    const auto arguments = std::make_shared<CheckArguments>();
    arguments->limit = 1000;
    CLI::App* verb = add_store_verb(
        outbox, "check", "Hold stored events against their contracts; exit code 1 if one does not keep its own",
        arguments->database, arguments->json);
    verb->footer(
        "Also what other languages append by SQL, which no database checks. Whatever became of an event: pending, "
        "parked "
        "or left.\nAll events are checked and counted; --limit is for how many breaches are listed.");
    verb->add_option("--contracts", arguments->contracts, "Folder of JSON Schemas, <type>.v<version>.json")->required();
    add_unknown_types(*verb, arguments->unknown_types);
    add_selection(*verb, arguments->events);
    add_limit(*verb, *arguments, list_limit_max);
    verb->callback([arguments, &code] { code = outbox_check(*arguments); });
}

void add_prune(CLI::App& outbox, ExitCode& code) {
    const auto arguments = std::make_shared<PruneArguments>();
    CLI::App* verb = add_store_verb(outbox, "prune",
                                    "Delete events that left long ago, never one that is pending or parked; audited",
                                    arguments->database, arguments->json);
    verb->add_option("--older-than", arguments->older_than, "30d, 12h")->required();
    verb->add_option("--batch", arguments->batch, "Events in one transaction")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    verb->add_option("--by", arguments->actor, "Who does it, for the audit; user@machine if not given");
    verb->callback([arguments, &code] { code = outbox_prune(*arguments); });
}

void add_mode(CLI::App& outbox, ExitCode& code) {
    const auto arguments = std::make_shared<ModeArguments>();
    CLI::App* verb = add_store_verb(outbox, "mode", "How events leave, or switch to another way", arguments->database,
                                    arguments->json);
    verb->footer(
        "polling  relays look for rows that wait; every store can\n"
        "cdc      relays read the server's log (PostgreSQL, wal_level = logical)\n"
        "Back to polling: keep a `semel relay --cdc` running until this verb says `polling`, then start the others.");
    verb->add_option("mode", arguments->mode, "polling or cdc; nothing: only say how it is")
        ->check(CLI::IsMember({"polling", "cdc"}));
    verb->add_option("--slot", arguments->slot, "The replication slot; semel_outbox if not given");
    verb->callback([arguments, &code] { code = outbox_mode(*arguments); });
}

}  // namespace

void add_outbox(CLI::App& app, ExitCode& code) {
    CLI::App* outbox = app.add_subcommand("outbox", "Look at the events that have still to leave, and tend them");
    outbox->require_subcommand(1);
    add_look(*outbox, code, "status", "What waits, since when, what is parked, who relays", false, &outbox_status);
    add_look(*outbox, code, "list", "The first events that have still to leave", true, &outbox_list);
    add_show(*outbox, code);
    add_look(*outbox, code, "parked", "The events that were set aside, and why", true, &outbox_parked);
    add_look(*outbox, code, "audit", "What was replayed and pruned, and by whom", true, &outbox_audit);
    add_redrive(*outbox, code);
    add_mode(*outbox, code);
    add_replay(*outbox, code);
    add_check(*outbox, code);
    add_prune(*outbox, code);
}

}  // namespace semel::app
