// What no database checks: events that any language has appended are held against their contracts, afterwards by
// `semel outbox check`, on their way out by `semel relay --contracts`. On PostgreSQL they are appended by SQL.

#include "semel/testing/process.hpp"
#include "tests/relay/fixture.hpp"
#include "tests/webhook/receiver_realtest.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace semel::integration {
namespace {

using namespace std::chrono_literals;
using conformance::Target;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using webhook::Received;
using webhook::Receiver;
using Json = nlohmann::json;

constexpr const char* numbered =
    R"({"type":"object","required":["number"],"properties":{"number":{"type":"integer"}}})";

/// Events of orders, whose payloads hold a number; in a contract that they keep it is a whole one.
class ContractCommand : public relaying::RelayTest {
protected:
    void SetUp() override {
        RelayTest::SetUp();
        auto made = testing::TempDir::make("contracts");
        ASSERT_TRUE(made) << made.error().describe();
        folder_.emplace(*std::move(made));
        write_contract("changed.v1", numbered);
    }
    void write_contract(const std::string& name, const std::string& text) const {
        std::ofstream(folder_->path() / (name + ".json")) << text;
    }
    [[nodiscard]] std::string folder() const { return folder_->path().string(); }

    void tell(const std::string& aggregate, const std::string& payload, const std::string& type = "changed",
              const std::string& headers = "{}") {
        const AppendStatements statements = AppendStatements::from(database->catalogue()).value();
        const auto outcome = transact(*database, [&](Transaction& tx) -> Status {
            if (!sqlite())
                return tx
                    .execute("SELECT semel.append('shop', 'order', $1, NULL, $2, $3, $4)", aggregate, type, payload,
                             headers)
                    .map([](const Rows&) {});
            Outbox outbox(statements, "shop", database->clock(), database->random());
            outbox.append({.aggregate = {.type = "order", .id = aggregate},
                           .type = type,
                           .payload = payload,
                           .headers = headers});
            outbox.post_to(tx);
            return {};
        });
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }
    static std::string number(int n) { return R"({"number":)" + std::to_string(n) + "}"; }

    static testing::Finished semel(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), SEMEL_BINARY);
        const auto finished = testing::run({.argv = std::move(arguments)}, 60s);
        EXPECT_TRUE(finished) << finished.error().describe();
        return finished ? *finished : testing::Finished();
    }
    testing::Finished check(const std::vector<std::string>& more = {}) {
        std::vector<std::string> all{"outbox", "check", "--db", address_, "--contracts", folder()};
        all.insert(all.end(), more.begin(), more.end());
        return semel(std::move(all));
    }
    Json check_json(std::vector<std::string> more, int code) {
        more.emplace_back("--json");
        const auto done = check(more);
        EXPECT_EQ(done.exit.code, code) << done.output << done.error_output;
        return Json::parse(done.output, nullptr, false);
    }
    testing::Finished relay(const std::vector<std::string>& more = {}) {
        std::vector<std::string> all{"relay",           "--db",   address_,      "--to",   receiver.url(),
                                     "--allow-private", "--once", "--contracts", folder(), "--json"};
        all.insert(all.end(), more.begin(), more.end());
        return semel(std::move(all));
    }
    testing::Finished redrive(const std::string& aggregate) {
        return semel({"outbox", "redrive", "--db", address_, "--tenant", "shop", "--aggregate", "order/" + aggregate});
    }
    /// What the receiver got of an aggregate.
    [[nodiscard]] std::vector<std::string> received(const std::string& aggregate) {
        std::vector<std::string> bodies;
        for (const Received& one : receiver.requests())
            if (one.field("ce-subject") == "order/" + aggregate) bodies.push_back(one.body);
        return bodies;
    }

    [[nodiscard]] std::int64_t parked_of(const std::string& aggregate) {
        const auto outcome = transact(*database, [&](Transaction& tx) -> Result<std::int64_t> {
            const Rows rows =
                SEMEL_TRY(tx.execute(sqlite() ? Sql("SELECT count(*) FROM semel_outbox_parked WHERE aggregate_id = $1")
                                              : Sql("SELECT count(*) FROM semel.outbox_parked WHERE aggregate_id = $1"),
                                     aggregate));
            return rows.scalar<std::int64_t>();
        });
        EXPECT_TRUE(outcome.committed()) << outcome.error().describe();
        return outcome.committed() ? outcome.value() : -1;
    }

    std::optional<testing::TempDir> folder_;
    Receiver receiver{[](const Received&, const std::stop_token&) { return webhook::plain("204 No Content"); }};
};

TEST_P(ContractCommand, ACheckNamesEachBreachAndWhereItIs) {
    tell("1", number(1));
    tell("1", R"({"number":"two"})");
    tell("2", "{}");
    const Json found = check_json({}, 1);
    EXPECT_EQ(found["checked"], 3);
    EXPECT_EQ(found["breaches"], 2);
    EXPECT_EQ(found["withoutContract"], 0);
    ASSERT_EQ(found["listed"].size(), 2U);
    // By their ids, which tell events of one millisecond not apart.
    const Json& first = found["listed"][found["listed"][0]["aggregate"] == "order/1" ? 0 : 1];
    EXPECT_EQ(first["aggregate"], "order/1");
    EXPECT_EQ(first["type"], "changed");
    EXPECT_EQ(first["tenant"], "shop");
    EXPECT_THAT(first["reason"].get<std::string>(), HasSubstr("[number]"));
    const auto shown = semel({"outbox", "show", first["id"].get<std::string>(), "--db", address_, "--json"});
    EXPECT_EQ(Json::parse(shown.output)["position"], first["position"]);
    EXPECT_THAT(check().output, AllOf(HasSubstr("order/2"), HasSubstr("checked 3 events, 2 breaches")));
    EXPECT_EQ(pending(), 3) << "it only looks";
}

TEST_P(ContractCommand, ACheckIsSilentAboutEventsThatKeepTheirContract) {
    EXPECT_EQ(check_json({}, 0)["checked"], 0);
    tell("1", number(1));
    tell("1", R"({"number":"old"})", "changed", R"({"schemaVersion":2})");
    write_contract("changed.v2", R"({"properties":{"number":{"type":"string"}}})");
    tell("1", R"({"number":"new"})");
    const Json found = check_json({}, 1);
    EXPECT_EQ(found["breaches"], 1) << "the first one means the newest version, which it does not keep";
    EXPECT_EQ(check_json({"--since", "0s"}, 0)["checked"], 0);
}

TEST_P(ContractCommand, ACheckIsAboutTheEventsThatAreAskedFor) {
    tell("1", "{}");
    tell("2", "{}");
    tell("2", number(1), "other");
    EXPECT_EQ(check_json({"--aggregate", "order/1"}, 1)["checked"], 1);
    EXPECT_EQ(check_json({"--type", "other", "--unknown-types", "allow"}, 0)["checked"], 1);
    EXPECT_EQ(check_json({"--tenant", "elsewhere"}, 0)["checked"], 0);
    EXPECT_EQ(check_json({"--until", "1h"}, 0)["checked"], 0);
    EXPECT_EQ(check_json({"--since", "1h"}, 1)["checked"], 3);
}

TEST_P(ContractCommand, ATypeWithoutAContractIsABreachUnlessItIsAllowed) {
    tell("1", number(1));
    tell("1", "{}", "forgotten");
    tell("2", "{}", "forgotten");
    const Json refused = check_json({}, 1);
    EXPECT_EQ(refused["breaches"], 2);
    EXPECT_EQ(refused["typesWithoutContract"]["forgotten"], 2);
    EXPECT_EQ(refused["listed"][0]["unknownType"], true);
    EXPECT_THAT(check().output, HasSubstr("no contract of forgotten: 2 events"));
    const Json allowed = check_json({"--unknown-types", "allow"}, 0);
    EXPECT_EQ(allowed["breaches"], 0);
    EXPECT_EQ(allowed["withoutContract"], 2);
}

TEST_P(ContractCommand, ACheckGoesThroughEveryPageAndListsNoMoreThanItIsTold) {
    constexpr int events = 1001;  // Five pages and one event.
    for (int n = 0; n < events; ++n) tell(std::to_string(n % 7), n % 10 == 0 ? "{}" : number(n));
    const Json all = check_json({}, 1);
    EXPECT_EQ(all["checked"], events);
    EXPECT_EQ(all["breaches"], 101);
    EXPECT_EQ(all["listed"].size(), 101U);
    const Json some = check_json({"--limit", "3"}, 1);
    EXPECT_EQ(some["breaches"], 101);
    EXPECT_EQ(some["listed"].size(), 3U);
    EXPECT_THAT(check({"--limit", "3"}).output, HasSubstr("and 98 more"));
}

TEST_P(ContractCommand, SaysWhatIsWrongWithTheContractsAndDoesNothing) {
    tell("1", "{}");
    write_contract("changed.v2", R"({"properties":{"number":{"pattern":"["}}})");
    for (const auto& refused : {check(), relay()}) {
        EXPECT_EQ(refused.exit.code, 3);
        EXPECT_THAT(refused.output + refused.error_output,
                    AllOf(HasSubstr("changed.v2.json"), HasSubstr("no regular expression")));
    }
    std::filesystem::remove(folder_->path() / "changed.v1.json");
    std::filesystem::remove(folder_->path() / "changed.v2.json");
    for (const auto& refused : {check(), relay()}) {
        EXPECT_EQ(refused.exit.code, 3);
        EXPECT_THAT(refused.output + refused.error_output, HasSubstr("no contract in"));
    }
    EXPECT_EQ(check({"--unknown-types", "perhaps"}).exit.code, 2);
    EXPECT_EQ(check({"--aggregate", "order"}).exit.code, 3);
    EXPECT_EQ(semel({"outbox", "check", "--db", address_}).exit.code, 2);
    EXPECT_EQ(pending(), 1);
    EXPECT_TRUE(receiver.requests().empty());
}

TEST_P(ContractCommand, ABreachIsParkedAtOnceWithWhatFollowsItAndRedrivenInOrder) {
    tell("1", number(1));
    tell("1", R"({"number":"two"})");
    tell("1", number(3));
    tell("2", number(1));
    const auto first = relay();
    EXPECT_EQ(first.exit.code, 0) << first.error_output;
    EXPECT_THAT(first.output, AllOf(HasSubstr(R"("acknowledged": 2)"), HasSubstr(R"("failed": 0)"),
                                    HasSubstr(R"("parked": 2)"), HasSubstr(R"("pending": 0)")));
    EXPECT_THAT(received("1"), ElementsAre(number(1)));
    EXPECT_THAT(received("2"), ElementsAre(number(1)));
    const auto told = semel({"outbox", "parked", "--db", address_, "--json"});
    const Json aside = Json::parse(told.output);
    ASSERT_EQ(aside.size(), 2U);
    EXPECT_EQ(aside[0]["attempts"], 1) << "never tried again";
    EXPECT_THAT(aside[0]["reason"].get<std::string>(), AllOf(HasSubstr("`changed`"), HasSubstr("[number]")));
    EXPECT_THAT(aside[1]["reason"].get<std::string>(), HasSubstr("follows a parked event"));

    // What comes later waits too; and redriving before anything was mended changes nothing.
    tell("1", number(4));
    EXPECT_EQ(relay().exit.code, 0);
    EXPECT_EQ(parked_of("1"), 3);
    EXPECT_EQ(redrive("1").exit.code, 0);
    EXPECT_EQ(relay().exit.code, 0);
    EXPECT_EQ(parked_of("1"), 3);
    EXPECT_THAT(received("1"), ElementsAre(number(1)));

    write_contract("changed.v1", R"({"required":["number"]})");
    EXPECT_EQ(redrive("1").exit.code, 0);
    EXPECT_EQ(relay().exit.code, 0);
    EXPECT_THAT(received("1"), ElementsAre(number(1), R"({"number":"two"})", number(3), number(4)));
    EXPECT_EQ(parked(), 0);
    EXPECT_EQ(pending(), 0);
}

TEST_P(ContractCommand, ABreachThatMayBeSkippedHoldsNothingUp) {
    tell("1", number(1));
    tell("1", "{}");
    tell("1", number(3));
    tell("1", "{}");
    tell("1", number(5));
    const auto done = relay({"--poison-of", "order=skip"});
    EXPECT_EQ(done.exit.code, 0) << done.error_output;
    EXPECT_THAT(received("1"), ElementsAre(number(1), number(3), number(5)));
    EXPECT_EQ(parked(), 2);
    EXPECT_EQ(pending(), 0);
}

TEST_P(ContractCommand, ARelayPublishesTypesWithoutAContractOnlyWhereThatIsAllowed) {
    tell("1", "{}", "forgotten");
    EXPECT_EQ(relay().exit.code, 0);
    EXPECT_EQ(parked(), 1);
    EXPECT_EQ(redrive("1").exit.code, 0);
    EXPECT_EQ(relay({"--unknown-types", "allow"}).exit.code, 0);
    EXPECT_EQ(parked(), 0);
    EXPECT_THAT(received("1"), ElementsAre("{}"));
    EXPECT_EQ(semel({"relay", "--db", address_, "--to", receiver.url(), "--unknown-types", "allow"}).exit.code, 2)
        << "it means nothing without contracts";
}

INSTANTIATE_TEST_SUITE_P(Every, ContractCommand, ::testing::Values(Target::sqlite, Target::postgres),
                         relaying::target_name);

}  // namespace
}  // namespace semel::integration
