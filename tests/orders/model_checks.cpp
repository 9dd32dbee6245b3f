#include "tests/orders/model_fixture.hpp"

#include <algorithm>

// All that is stored, held against the model.

namespace orders::testing {

using model::Kind;
using nlohmann::json;

namespace {

/// Each step that a life allows, whatever command takes it. An empty state: there is nothing yet.
const std::set<std::string>& allowed_steps() {
    static const std::set<std::string> all{"quote  DRAFT",
                                           "quote DRAFT DRAFT",
                                           "quote DRAFT SUBMITTED",
                                           "quote DRAFT APPROVED",
                                           "quote DRAFT EXPIRED",
                                           "quote SUBMITTED SUBMITTED",
                                           "quote SUBMITTED APPROVED",
                                           "quote SUBMITTED REJECTED",
                                           "quote SUBMITTED DRAFT",
                                           "quote SUBMITTED EXPIRED",
                                           "quote APPROVED ACCEPTED",
                                           "quote APPROVED DRAFT",
                                           "quote APPROVED EXPIRED",
                                           "quote REJECTED DRAFT",
                                           "quote ACCEPTED CONVERTED",
                                           "quote ACCEPTED EXPIRED",
                                           "quote EXPIRED DRAFT",
                                           "order  CREATED",
                                           "order CREATED IN_PROGRESS",
                                           "order CREATED HELD",
                                           "order CREATED CANCELLED",
                                           "order IN_PROGRESS IN_PROGRESS",
                                           "order IN_PROGRESS HELD",
                                           "order IN_PROGRESS COMPLETED",
                                           "order IN_PROGRESS CANCELLED",
                                           "order HELD HELD",
                                           "order HELD IN_PROGRESS",
                                           "order HELD COMPLETED",
                                           "order HELD CANCELLED",
                                           "task  READY",
                                           "task  WAITING",
                                           "task WAITING READY",
                                           "task WAITING CANCELLED",
                                           "task READY COMPLETED",
                                           "task READY FAILED",
                                           "task READY CANCELLED",
                                           "task FAILED READY",
                                           "task FAILED COMPLETED",
                                           "task FAILED CANCELLED",
                                           "asset  ACTIVE",
                                           "asset ACTIVE ACTIVE",
                                           "asset ACTIVE SUSPENDED",
                                           "asset ACTIVE ENDED",
                                           "asset SUSPENDED ACTIVE",
                                           "asset SUSPENDED ENDED"};
    return all;
}

/// Lines by the thing that they are about: {"quote ID": [{"version": 1, …}, …]}.
class Ledger {
public:
    void add(const std::string& kind, const std::string& id, json line) {
        lines_[kind + " " + id].push_back(std::move(line));
    }
    /// Each thing's as they were added.
    [[nodiscard]] json in_order() const { return lines_; }
    /// Each thing's by version.
    [[nodiscard]] json sorted() {
        for (auto& [thing, lines] : lines_)
            std::ranges::sort(lines, {}, [](const json& line) { return line.at("version").get<std::int64_t>(); });
        return lines_;
    }

private:
    std::map<std::string, std::vector<json>> lines_;
};

/// The same lines of the same things, and none besides.
void expect_same(const json& expected, const json& actual) {
    EXPECT_EQ(model::difference(expected, actual), "");
    for (const auto& [thing, lines] : actual.items()) EXPECT_TRUE(expected.contains(thing)) << thing << lines;
}

}  // namespace

void OrdersModelTest::expect_all_as_modelled() {
    expect_things_as_modelled();
    expect_approvals_as_modelled();
    expect_audit_as_modelled();
    expect_events_as_modelled();
}

void OrdersModelTest::expect_things_as_modelled() {
    for (const Kind kind : {Kind::quote, Kind::order, Kind::task, Kind::asset}) {
        std::set<std::string> modelled;
        for (std::size_t i = 0; i < model_.count(kind); ++i) {
            const std::string path = model::path_of(model_, kind, i);
            modelled.insert(model_.at(kind, i).id);
            const json found = read(path);
            EXPECT_EQ(model::difference(model::json_of(model_, kind, i), found, path), "");
            EXPECT_TRUE(!found.contains("gross") || model::adds_up(found)) << found;
        }
        std::set<std::string> listed;
        const std::string some_path = model::path_of(model_, kind, std::nullopt);
        for (const json& entry : read_all(some_path.substr(0, some_path.rfind('/'))))
            listed.insert(entry.at(std::string(model::name(kind)) + "Id").get<std::string>());
        EXPECT_EQ(listed, modelled) << model::name(kind);
    }
}

void OrdersModelTest::expect_approvals_as_modelled() {
    for (std::size_t i = 0; i < model_.quotes.size(); ++i) {
        const std::string path = model::path_of(model_, Kind::quote, i) + "/approvals";
        json expected = json::array();
        for (const model::Approval& approval : model_.quotes[i].approvals) expected.push_back(model::json_of(approval));
        EXPECT_EQ(model::difference(expected, read_all(path), path), "");
    }
}

void OrdersModelTest::expect_audit_as_modelled() {
    Ledger expected;
    for (const model::Change& change : model_.changes)
        expected.add(std::string(model::name(change.kind)), model_.at(change.kind, change.thing).id,
                     {{"version", change.version},
                      {"from", change.from},
                      {"to", change.to},
                      {"operation", change.operation},
                      {"caller", change.caller},
                      {"reason", change.reason}});
    Ledger actual;
    std::size_t lines = 0;
    const auto add = [&](const json& line) {
        const std::string kind = line.at("kind");
        const std::string from = line.value("fromState", "");
        const std::string to = line.at("toState");
        EXPECT_TRUE(allowed_steps().contains(kind + " " + from + " " + to)) << line;
        EXPECT_EQ(line.value("fromVersion", 0) + 1, line.at("toVersion").get<int>()) << line;
        actual.add(kind, line.at("resourceId"),
                   {{"version", line.at("toVersion")},
                    {"from", from},
                    {"to", to},
                    {"operation", line.at("operation")},
                    {"caller", line.at("caller")},
                    {"reason", line.value("reason", "")}});
        ++lines;
    };
    // A quote's audit has its order too, and an order's has its tasks and assets.
    for (const model::Quote& quote : model_.quotes)
        for (const json& line : read_all("/api/v1/audit?resource=quotes/" + quote.id)) add(line);
    for (const model::Order& order : model_.orders)
        for (const json& line : read_all("/api/v1/audit?resource=orders/" + order.id))
            if (line.at("kind") != "order") add(line);
    expect_same(expected.sorted(), actual.sorted());
    EXPECT_EQ(lines, model_.changes.size());
    EXPECT_EQ(count("SELECT count(*) FROM orders_audit WHERE tenant = $1", tenant_),
              static_cast<std::int64_t>(model_.changes.size()));
}

void OrdersModelTest::expect_events_as_modelled() {
    Ledger expected;
    for (const model::Change& change : model_.changes)
        expected.add(std::string(model::name(change.kind)), model_.at(change.kind, change.thing).id,
                     {{"version", change.version},
                      {"type", change.event},
                      {"payload", {{"state", change.to}, {"version", change.version}}}});
    Ledger actual;
    in_database([&](semel::Transaction& tx) -> semel::Status {
        actual = {};
        const semel::Rows rows = SEMEL_TRY(tx.execute(
            GetParam() == Target::sqlite
                ? semel::Sql("SELECT aggregate_type, aggregate_id, aggregate_version, type, payload"
                             " FROM semel_outbox_event WHERE tenant = $1 ORDER BY position")
                : semel::Sql("SELECT aggregate_type, aggregate_id, aggregate_version, type, CAST(payload AS text)"
                             " FROM semel.outbox_event WHERE tenant = $1 ORDER BY position"),
            tenant_));
        for (const semel::Row row : rows)
            actual.add(SEMEL_TRY(row.get<std::string>(0)), SEMEL_TRY(row.get<std::string>(1)),
                       {{"version", SEMEL_TRY(row.get<std::int64_t>(2))},
                        {"type", SEMEL_TRY(row.get<std::string>(3))},
                        {"payload", json::parse(SEMEL_TRY(row.get<std::string>(4)))}});
        return {};
    });
    // One for each change, in the order of the versions: not sorted here.
    expect_same(expected.sorted(), actual.in_order());
}

}  // namespace orders::testing
