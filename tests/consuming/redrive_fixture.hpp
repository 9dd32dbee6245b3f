#pragma once

#include "semel/inbox/redrive_request.hpp"
#include "tests/consuming/fixture.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace semel::consuming {

/// Of a request that was taken: `handle_limit` of `redrive_options`, and 15 s.
inline constexpr Duration redrive_lease = std::chrono::seconds(45);
/// Of a request that was put back, if the handler is `says_away`. Long enough for a slow machine not to sleep through it.
inline constexpr Duration redrive_pause = std::chrono::seconds(50);

inline ConsumerOptions redrive_options(const std::string& name) {
    ConsumerOptions options = quick_options(name);
    options.handle_limit = redrive_lease - std::chrono::seconds(15);
    return options;
}

inline Status says_bad(ConsumerWork&) { return fail(Fault::rejected, "there is no such order"); }

inline Status says_away(ConsumerWork&) {
    Error error;
    error.fault = Fault::throttled;
    error.message = "the tax office asks for less";
    error.cause.retry_after = redrive_pause;
    return fail(std::move(error));
}

/// Each consumer has one message, of the consumer's own name.
class RedriveTest : public ConsumerTest {
protected:
    [[nodiscard]] std::unique_ptr<Consumer> redriver(const std::string& name, ConsumerHandler handler = note_effect) {
        return consumer(source, redrive_options(name), std::move(handler));
    }
    [[nodiscard]] RedriveRequests requests(const std::string& name) {
        return RedriveRequests::of(*database, name).value();
    }
    void park(const std::string& name) {
        const auto store = ParkedMessages::of(*database, name).value();
        EXPECT_TRUE(store.park(message(name), 3, "it was refused", soon()));
    }
    void ask(const std::string& name) { EXPECT_TRUE(requests(name).ask(name, "ann", soon()).value()); }

    /// What there is of the message, in the words of CrashStep.
    [[nodiscard]] std::string there_is_of(const std::string& name) {
        const Sql words = sqlite() ? Sql("SELECT 1, CASE WHEN taken_as IS NULL THEN 'asked ' ELSE 'taken ' END ||"
                                         " begun || '/' || put_back FROM semel_inbox_redrive WHERE consumer = $1"
                                         " UNION ALL SELECT 2, 'parked ' || attempts FROM semel_inbox_parked"
                                         " WHERE consumer = $1 UNION ALL SELECT 3, 'counted ' || started"
                                         " FROM semel_inbox_attempt WHERE consumer = $1"
                                         " UNION ALL SELECT 4, 'effect' FROM effect WHERE message = $1 ORDER BY 1")
                                   : Sql("SELECT 1, CASE WHEN taken_as IS NULL THEN 'asked ' ELSE 'taken ' END ||"
                                         " begun || '/' || put_back FROM semel.inbox_redrive WHERE consumer = $1"
                                         " UNION ALL SELECT 2, 'parked ' || attempts FROM semel.inbox_parked"
                                         " WHERE consumer = $1 UNION ALL SELECT 3, 'counted ' || started"
                                         " FROM semel.inbox_attempt WHERE consumer = $1"
                                         " UNION ALL SELECT 4, 'effect' FROM effect WHERE message = $1 ORDER BY 1");
        const auto outcome = transact(*database, [&](Transaction& tx) -> Result<std::string> {
            std::string all;
            const Rows rows = SEMEL_TRY(tx.execute(words, name));
            for (const Row row : rows) all += (all.empty() ? "" : ", ") + SEMEL_TRY(row.get<std::string>(1));
            return all;
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : "unknown";
    }
    /// As if so much time had passed for its request.
    void pass(const std::string& name, Duration time) {
        const Sql earlier = sqlite() ? Sql("UPDATE semel_inbox_redrive SET not_before = not_before - $2"
                                           " WHERE consumer = $1")
                                     : Sql("UPDATE semel.inbox_redrive SET not_before = not_before - $2::bigint *"
                                           " interval '1 microsecond' WHERE consumer = $1");
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            tx.post(earlier, name, std::chrono::duration_cast<std::chrono::microseconds>(time).count());
            return {};
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
    }
    [[nodiscard]] std::string reason_of(const std::string& name) {
        const auto parked = ParkedMessages::of(*database, name).value().look(name, soon()).value();
        return parked ? parked->reason : "it is not parked";
    }
};

}  // namespace semel::consuming
