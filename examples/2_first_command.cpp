// A command that can be repeated without fear: run it twice with the same key, or kill it in between.

#include "semel/command/executor.hpp"
#include "semel/db/migrate.hpp"
#include "semel/open/open.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace semel;
    const auto opened = open(argc > 1 ? argv[1] : "sqlite:first.db");
    if (!opened) return std::fprintf(stderr, "%s\n", opened.error().describe().c_str()), 1;
    Database& database = *opened->database;
    const auto migrated = migrate(database, "semel", opened->schema, Deadline::never());
    if (!migrated) return std::fprintf(stderr, "%s\n", migrated.error().describe().c_str()), 1;
    const auto commands = Executor::create(database).value();

    // Who asks for what, under which key; and what makes two requests the same request.
    const std::string amount = argc > 3 ? argv[3] : "12.50";
    const auto identity = Identity::of("shop", "web", "order.place", argc > 2 ? argv[2] : "key-1");
    const auto content = fingerprint({.operation = "order.place", .media_type = "text/plain", .body = amount});
    if (!identity || !content) return std::fprintf(stderr, "give a key and an amount\n"), 2;

    // Nothing here waits, so on PostgreSQL claim, row, event, reply and COMMIT are one round trip.
    const auto outcome = commands->execute({*identity, *content}, [&](Work& work) -> Result<Reply> {
        const std::string id = new_uuid().text();
        work.tx.post("CREATE TABLE IF NOT EXISTS purchase (id text PRIMARY KEY, amount numeric NOT NULL)");
        work.tx.post("INSERT INTO purchase (id, amount) VALUES ($1, $2)", id, SEMEL_TRY(Decimal::parse(amount)));
        work.outbox.append({.aggregate = {"purchase", id, 1}, .type = "order.placed", .payload = "{}"});
        return Reply{.status = 201, .body = "order " + id};
    });

    return outcome.match(
        [](const Committed<Answer>& done) {
            const bool again = done.value.standing == Standing::replayed;
            return std::printf("%s%s\n", again ? "as before: " : "", done.value.reply.body.c_str()), 0;
        },
        [](const NotCommitted& failed) {
            return std::printf("nothing happened: %s\n", failed.error.message.c_str()), 1;
        },
        [](const Unknown& doubt) {
            return std::printf("repeat it with the same key: %s\n", doubt.error.message.c_str()), 4;
        });
}
