#include "apps/semel/relay_command.hpp"

#include "apps/semel/relay.hpp"
#include "apps/semel/unknown_types.hpp"

#include <memory>

namespace semel::app {
namespace {

std::string check_poison_of(const std::string& text) {
    const std::size_t sign = text.rfind('=');
    const std::string policy = sign == std::string::npos ? "" : text.substr(sign + 1);
    const bool known = policy == "block" || policy == "park" || policy == "skip";
    return known && sign > 0 ? std::string() : "write it as TYPE=block, TYPE=park or TYPE=skip";
}

}  // namespace

void add_relay(CLI::App& app, ExitCode& code) {
    const auto arguments = std::make_shared<RelayArguments>();
    CLI::App* relay = app.add_subcommand("relay", "Publish the events of the outbox");
    relay->footer(
        "Any number of relays share the work. What is appended leaves at once where the service sends NOTIFY "
        "(PostgreSQL),\n"
        "else at the next look, once a second.\n"
        "SIGTERM drains and ends with exit code 0; a second one ends at once. Nothing is migrated.");
    relay->add_option("--db", arguments->database, "sqlite:PATH or postgres://user:password@host:port/name")
        ->envname("SEMEL_DB")
        ->required();
    relay
        ->add_option("--to", arguments->to,
                     "https://…, kafka://…, amqp://…, nats://… or smtp://…; http://… only with --allow-private")
        ->required();
    relay->add_option("--secret-file", arguments->secret_file,
                      "Secrets (whsec_…), one per line; each request is signed with all of them");
    relay->add_option("--name", arguments->name, "For people who look at the relays")->capture_default_str();
    relay->add_option("--source", arguments->source, "Source of the CloudEvents")->capture_default_str();
    relay->add_option("--batch", arguments->batch, "Events read and published at once")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    relay->add_option("--lease", arguments->lease, "How long what a dead relay held waits for another: 1s to 10m")
        ->capture_default_str();
    relay->add_option("--parallel", arguments->parallel, "Requests at once, each of another aggregate")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    relay
        ->add_option(
            "--poison", arguments->poison,
            "What becomes of an event that is refused for good: block its aggregate, park it with what follows "
            "it, or skip it")
        ->check(CLI::IsMember({"block", "park", "skip"}))
        ->capture_default_str();
    relay->add_option("--poison-of", arguments->poison_of, "The same for one type of aggregate: TYPE=park")
        ->allow_extra_args(false)
        ->check(check_poison_of);
    auto* contracts = relay->add_option("--contracts", arguments->contracts,
                                        "Folder of JSON Schemas, <type>.v<version>.json: an event that does not keep "
                                        "its contract is never published, but "
                                        "parked at once with what follows it (with --poison skip: alone)");
    add_unknown_types(*relay, arguments->unknown_types)->needs(contracts);
    relay->add_flag("--allow-private", arguments->allow_private, "Also to loopback and private addresses, and http://");
    relay->add_flag("--structured", arguments->structured, "CloudEvents as one JSON document each");
    auto* cdc = relay->add_flag(
        "--cdc", arguments->cdc,
        "Read the server's log instead of polling (PostgreSQL, wal_level = logical). The first time it switches the "
        "outbox; after that `semel outbox mode` does. One relay reads, others stand by");
    relay->add_option("--slot", arguments->slot, "The replication slot; semel_outbox if not given")->needs(cdc);
    relay->add_flag("--once", arguments->once, "End when nothing can leave any more; exit code 1 if something is left")
        ->excludes(cdc);
    relay->add_flag("--json", arguments->json, "Answer in JSON");
    relay->callback([arguments, &code] { code = app::relay(*arguments); });
}

}  // namespace semel::app
