#include "apps/semel/outbox.hpp"
#include "apps/semel/report.hpp"
#include "apps/semel/store.hpp"
#include "semel/cdc/mode.hpp"
#include "semel/outbox/status.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace semel::app {
namespace {

Status switch_mode(const ModeArguments& arguments, Database& database, const FeedStatus& now) {
    if (arguments.mode.empty()) return {};
    if (arguments.mode == "polling")
        return now.mode == "polling" ? Status() : cdc::switch_to_polling(database, soon(database));
    const std::string slot = arguments.slot.empty() ? now.slot : arguments.slot;
    return cdc::switch_to_cdc(database, {.connection = arguments.database}, slot.empty() ? cdc::default_slot : slot,
                              soon(database));
}

Result<ExitCode> mode_of(const ModeArguments& arguments) {
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    Database& database = *opened.database;
    if (arguments.mode == "cdc" && opened.dialect != Dialect::postgres)
        return fail(Fault::rejected, "cdc reads the log of a PostgreSQL server; this store has none");
    const OutboxStatus before = SEMEL_TRY(outbox_status(database, soon(database)));
    SEMEL_TRY(switch_mode(arguments, database, before.feed));
    const OutboxStatus after = SEMEL_TRY(outbox_status(database, soon(database)));
    const FeedStatus& feed = after.feed;
    if (arguments.json)
        std::puts(nlohmann::ordered_json{{"mode", feed.mode}, {"slot", feed.slot}, {"trouble", feed.trouble}}
                      .dump(2)
                      .c_str());
    else
        std::printf("%s\n%s", feed.mode.c_str(), feed.trouble.empty() ? "" : (feed.trouble + "\n").c_str());
    return feed.mode == "leaving" || !feed.trouble.empty() ? ExitCode::finding : ExitCode::ok;
}

}  // namespace

ExitCode outbox_mode(const ModeArguments& arguments) {
    return report("outbox mode", mode_of(arguments), arguments.json);
}

}  // namespace semel::app
