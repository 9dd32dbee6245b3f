#include "apps/semel/inbox.hpp"

#include "apps/semel/actor.hpp"
#include "apps/semel/duration.hpp"
#include "apps/semel/report.hpp"
#include "apps/semel/store.hpp"
#include "semel/db/value.hpp"
#include "semel/inbox/parked_message.hpp"
#include "semel/inbox/redrive_request.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace semel::app {
namespace {

using nlohmann::ordered_json;

constexpr Duration look_again_after = std::chrono::milliseconds(200);

/// Texts of others may be in any encoding; a broken character must not lose the answer.
void print_inbox(const ordered_json& body) {
    std::puts(body.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
}

ordered_json json_of(const ParkedMessage& parked, bool whole) {
    const ReceivedMessage& message = parked.message;
    ordered_json body{{"id", message.id},
                      {"tenant", message.tenant},
                      {"topic", message.topic},
                      {"partition", message.partition ? ordered_json(*message.partition) : ordered_json()},
                      {"offset", message.offset ? ordered_json(*message.offset) : ordered_json()},
                      {"key", message.key},
                      {"type", message.type},
                      {"attempts", parked.attempts},
                      {"reason", parked.reason},
                      {"parkedAt", timestamp_text(parked.parked_at)}};
    if (whole) {
        body["version"] = message.version;
        body["headers"] = message.headers;
        // As text: whoever parses it decides what becomes of large numbers.
        body["payload"] = message.payload;
    }
    return body;
}

std::string line_of(const ParkedMessage& parked) {
    return fmt::format("{} {} {}, {} attempts: {}\n", parked.message.id, timestamp_text(parked.parked_at),
                       parked.message.type, parked.attempts, parked.reason);
}

std::string text_of(const ParkedMessage& parked) {
    const ReceivedMessage& message = parked.message;
    std::string text =
        fmt::format("message {}\ntype {}\ntenant {}\ntopic {}\nkey {}\nparked {}, after {} attempts\nbecause {}\n",
                    message.id, message.type, message.tenant, message.topic, message.key,
                    timestamp_text(parked.parked_at), parked.attempts, parked.reason);
    if (message.partition) text += fmt::format("partition {}\n", *message.partition);
    if (message.offset) text += fmt::format("offset {}\n", *message.offset);
    return text + fmt::format("headers {}\npayload {}\n", message.headers, message.payload);
}

Result<ExitCode> count_all(Database& database, bool json) {
    const auto counts = SEMEL_TRY(count_parked(database, soon(database)));
    ordered_json body = ordered_json::array();
    for (const ParkedCount& one : counts) {
        if (json)
            body.push_back(
                {{"consumer", one.consumer}, {"parked", one.messages}, {"oldest", timestamp_text(one.oldest)}});
        else
            std::printf("%s: %lld parked, the oldest since %s\n", one.consumer.c_str(),
                        static_cast<long long>(one.messages), timestamp_text(one.oldest).c_str());
    }
    if (json)
        print_inbox(body);
    else if (counts.empty())
        std::puts("nothing is parked");
    return ExitCode::ok;
}

Result<ExitCode> show_one(Database& database, const InboxParkedArguments& arguments) {
    const auto store = SEMEL_TRY(ParkedMessages::of(database, arguments.consumer));
    const auto parked = SEMEL_TRY(store.look(arguments.id, soon(database)));
    if (arguments.json)
        print_inbox(parked ? json_of(*parked, true) : ordered_json());
    else
        std::fputs((parked ? text_of(*parked) : "no message of that id is parked by this consumer\n").c_str(), stdout);
    return parked ? ExitCode::ok : ExitCode::finding;
}

Result<ExitCode> parked(const InboxParkedArguments& arguments) {
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    Database& database = *opened.database;
    if (arguments.consumer.empty()) return count_all(database, arguments.json);
    if (!arguments.id.empty()) return show_one(database, arguments);
    const auto store = SEMEL_TRY(ParkedMessages::of(database, arguments.consumer));
    ordered_json body = ordered_json::array();
    for (const ParkedMessage& one : SEMEL_TRY(store.list(arguments.limit, soon(database)))) {
        if (arguments.json)
            body.push_back(json_of(one, false));
        else
            std::fputs(line_of(one).c_str(), stdout);
    }
    if (arguments.json) print_inbox(body);
    return ExitCode::ok;
}

/// What became of a message that was to be redriven.
struct Redriven {
    std::string_view state;  ///< not_parked, asked, begun, parked, processed
    std::string reason{};
};

/// One redrive on its way.
struct Asked {
    const ParkedMessages& store;
    const RedriveRequests& requests;
    Database& database;

    [[nodiscard]] Result<Redriven> look(const std::string& id) const {
        // The request first: once it is gone, what is seen of the message is how it ended.
        const auto request = SEMEL_TRY(requests.look(id, soon(database)));
        const auto message = SEMEL_TRY(store.look(id, soon(database)));
        if (!message) return Redriven{.state = "processed"};
        if (!request) return Redriven{.state = "parked", .reason = message->reason};
        if (request->begun) return Redriven{.state = "begun"};
        if (request->put_back == 0) return Redriven{.state = "asked"};
        return Redriven{.state = "asked",
                        .reason = fmt::format("tried {} times; what it needs was away", request->put_back)};
    }
    [[nodiscard]] Result<Redriven> wait(const std::string& id, Instant until) const {
        for (;;) {
            Redriven now = SEMEL_TRY(look(id));
            if (now.state == "processed" || now.state == "parked" || database.clock().now() >= until) return now;
            database.clock().sleep(std::min(until, database.clock().now() + look_again_after), {});
        }
    }
};

std::string words_for(const Redriven& redriven) {
    if (redriven.state == "not_parked") return "is not parked by this consumer; nothing was done";
    if (redriven.state == "asked" && !redriven.reason.empty()) return "is asked for; " + redriven.reason;
    if (redriven.state == "asked") return "is asked for; no consumer of that name has taken it so far";
    if (redriven.state == "begun") return "was begun by the consumer, and has not ended";
    if (redriven.state == "parked") return "stays parked: " + redriven.reason;
    return "is processed";
}

Result<ExitCode> redrive_messages(const InboxRedriveArguments& arguments) {
    const Duration patience = SEMEL_TRY(parse_duration(arguments.wait));
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    Database& database = *opened.database;
    const auto store = SEMEL_TRY(ParkedMessages::of(database, arguments.consumer));
    const auto requests = SEMEL_TRY(RedriveRequests::of(database, arguments.consumer));
    const std::string actor = actor_of(arguments.actor);
    std::vector<bool> asked;
    for (const std::string& id : arguments.ids) asked.push_back(SEMEL_TRY(requests.ask(id, actor, soon(database))));
    const Asked redrive{.store = store, .requests = requests, .database = database};
    const Instant until = database.clock().now() + patience;
    ordered_json body = ordered_json::array();
    ExitCode code = ExitCode::ok;
    for (std::size_t n = 0; n < asked.size(); ++n) {
        const std::string& id = arguments.ids[n];
        const Redriven ended = asked[n] ? SEMEL_TRY(redrive.wait(id, until)) : Redriven{.state = "not_parked"};
        if (ended.state != "processed") code = ExitCode::finding;
        if (arguments.json)
            body.push_back({{"id", id}, {"state", ended.state}, {"reason", ended.reason}});
        else
            std::printf("%s %s\n", id.c_str(), words_for(ended).c_str());
    }
    if (arguments.json) print_inbox(body);
    return code;
}

}  // namespace

ExitCode inbox_parked(const InboxParkedArguments& arguments) {
    return report("inbox parked", parked(arguments), arguments.json);
}
ExitCode inbox_redrive(const InboxRedriveArguments& arguments) {
    return report("inbox redrive", redrive_messages(arguments), arguments.json);
}

}  // namespace semel::app
