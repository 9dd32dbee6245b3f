#include "apps/semel/inbox_command.hpp"

#include "apps/semel/inbox.hpp"
#include "apps/semel/store_verb.hpp"

#include <memory>

namespace semel::app {
namespace {

constexpr std::size_t parked_limit_max = 10'000;

void add_inbox_parked(CLI::App& inbox, ExitCode& code) {
    const auto arguments = std::make_shared<InboxParkedArguments>();
    CLI::App* verb =
        add_store_verb(inbox, "parked", "The messages that were set aside, and why; one of them, whole, by its id",
                       arguments->database, arguments->json);
    CLI::Option* consumer =
        verb->add_option("--consumer", arguments->consumer, "Whose; without it: how many each consumer has");
    verb->add_option("id", arguments->id,
                     "Only this message, with headers and payload; exit code 1 if it is not parked")
        ->needs(consumer);
    verb->add_option("--limit", arguments->limit, "The first so many")
        ->check(CLI::Range(std::size_t{1}, parked_limit_max))
        ->capture_default_str();
    verb->callback([arguments, &code] { code = inbox_parked(*arguments); });
}

void add_inbox_redrive(CLI::App& inbox, ExitCode& code) {
    const auto arguments = std::make_shared<InboxRedriveArguments>();
    CLI::App* verb = add_store_verb(
        inbox, "redrive",
        "Let the consumer handle parked messages once more; exit code 1 unless all of them are processed",
        arguments->database, arguments->json);
    verb->footer(
        "The handler runs in the consumer, which looks for requests every two seconds. One that is not running takes "
        "them\n"
        "when it is started.");
    verb->add_option("--consumer", arguments->consumer, "Whose")->required();
    verb->add_option("ids", arguments->ids, "The messages' ids, as `semel inbox parked` shows them")->required();
    verb->add_option("--wait", arguments->wait, "How long to wait for what becomes of them: 15s, 2m; 0s: only ask")
        ->capture_default_str();
    verb->add_option("--by", arguments->actor, "Who asks; user@machine if not given");
    verb->callback([arguments, &code] { code = inbox_redrive(*arguments); });
}

}  // namespace

void add_inbox(CLI::App& app, ExitCode& code) {
    CLI::App* inbox = app.add_subcommand("inbox", "Look at the messages that consumers have set aside, and tend them");
    inbox->require_subcommand(1);
    add_inbox_parked(*inbox, code);
    add_inbox_redrive(*inbox, code);
}

}  // namespace semel::app
