// What the service consumes: fulfilment begins tasks, billing issues invoices, each message once, however it is sent.

#include "tests/orders/order_journey.hpp"
#include "tests/orders/signed_event.hpp"

#include <nlohmann/json.hpp>

namespace orders::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class OrdersConsumers : public OrderJourneyTest {
protected:
    void start_consuming() { start({.config = std::string(consume_config)}); }

    [[nodiscard]] HttpResponse deliver(const SignedEvent& event) const { return send(event.request()); }
    /// The event of this type that was told of this thing, under an id of the test's own.
    [[nodiscard]] SignedEvent told(const std::string& type, const std::string& id, const std::string& message) {
        return {.id = message, .type = type, .payload = payload_of(type, id), .subject = id};
    }
    void expect_delivered(const SignedEvent& event) const {
        const HttpResponse answer = deliver(event);
        EXPECT_EQ(answer.status, 204) << event.id << ": " << answer.body;
        EXPECT_EQ(answer.body, "");
    }

    /// An order that is completed by hand, before anybody was told of it.
    [[nodiscard]] std::string completed_order() {
        std::string order = make_order();
        finish(order);
        EXPECT_EQ(state_of(order), "COMPLETED");
        return order;
    }
    [[nodiscard]] std::map<std::string, std::string> states(const std::string& order) const {
        std::map<std::string, std::string> all;
        for (const TaskAt& task : tasks_of(order)) all[task.kind] = task.state;
        return all;
    }
    [[nodiscard]] std::int64_t invoices() { return count("SELECT count(*) FROM orders_invoice"); }
    void complete(const std::string& order, std::string_view kind) {
        EXPECT_EQ(command(task_of(order, kind).seen(), "complete").status, 200) << kind;
    }
};

TEST_P(OrdersConsumers, AnOrderGetsDoneByWhatIsToldOfItAndIsInvoicedOnce) {
    start_consuming();
    const std::string order = make_order();
    expect_delivered(told("order.created", order, "m-1"));
    EXPECT_THAT(states(order), UnorderedElementsAre(Pair("RESERVE", "RUNNING"), Pair("PROVISION", "WAITING"),
                                                    Pair("ACTIVATE", "WAITING")));
    EXPECT_EQ(state_of(order), "IN_PROGRESS");
    complete(order, "RESERVE");
    const std::string provision = task_of(order, "PROVISION").id;
    expect_delivered(told("task.ready", provision, "m-2"));
    EXPECT_EQ(states(order)["PROVISION"], "RUNNING");
    // It fails while it is being done, and is begun anew.
    EXPECT_EQ(command(task_of(order, "PROVISION").seen(), "fail", because).status, 200);
    EXPECT_EQ(state_of(order), "HELD");
    EXPECT_EQ(command(task_of(order, "PROVISION").seen(), "retry").status, 200);
    expect_delivered(told("task.retried", provision, "m-3"));
    EXPECT_EQ(states(order)["PROVISION"], "RUNNING");
    complete(order, "PROVISION");
    complete(order, "ACTIVATE");
    EXPECT_EQ(state_of(order), "COMPLETED");
    EXPECT_EQ(invoices(), 0) << "nobody was told yet";
    expect_delivered(told("order.completed", order, "m-4"));
    const HttpResponse all = get("/api/v1/invoices?orderId=" + order);
    const json items = json::parse(all.body).at("items");
    ASSERT_EQ(items.size(), 1U) << all.body;
    const json told_order = json::parse(get("/api/v1/orders/" + order).body);
    for (const char* member : {"orderId", "customerId", "currency", "net", "tax", "gross"})
        EXPECT_EQ(items[0].at(member), told_order.at(member)) << member;
    EXPECT_EQ(json::parse(get("/api/v1/invoices/" + items[0].at("invoiceId").get<std::string>()).body), items[0]);
    EXPECT_EQ(events("invoice.issued"), 1);
    EXPECT_EQ(inbox("fulfilment"), 3);
    EXPECT_EQ(inbox("billing"), 1);
    expect_consistent_orders();
}

TEST_P(OrdersConsumers, TheAuditSaysWhichMessageLedToAChange) {
    start_consuming();
    const std::string order = make_order();
    HttpRequest request = told("order.created", order, "m-1").request();
    request.headers.emplace_back("ce-correlationid", "asked-for-by-web");
    ASSERT_EQ(send(request).status, 204);
    const auto lines = json::parse(get("/api/v1/audit?resource=orders/" + order).body).at("items");
    int found = 0;
    for (const json& line : lines) {
        if (line.at("caller") != "fulfilment") continue;
        ++found;
        EXPECT_EQ(line.at("operation"), "fulfilment.start");
        EXPECT_EQ(line.at("correlationId"), "asked-for-by-web");
    }
    EXPECT_EQ(found, 2) << "the order and its first task";
}

TEST_P(OrdersConsumers, AMessageThatIsDeliveredTwentyTimesAtOnceHasOneEffect) {
    start_consuming();
    const std::string order = completed_order();
    const SignedEvent completed = told("order.completed", order, "m-1");
    EXPECT_THAT(at_once(20, [&](int) { return deliver(completed); }), UnorderedElementsAre(Pair("204", 20)));
    EXPECT_EQ(invoices(), 1);
    EXPECT_EQ(events("invoice.issued"), 1);
    const std::string other = make_order({Journey::cheap, Journey::cheap});
    const SignedEvent created = told("order.created", other, "m-2");
    EXPECT_THAT(at_once(20, [&](int) { return deliver(created); }), UnorderedElementsAre(Pair("204", 20)));
    EXPECT_EQ(events("task.started"), 2);
    expect_consistent_orders();
}

TEST_P(OrdersConsumers, TheSameFactUnderAnotherIdIsKnownAndAnotherSumForTheOrderIsParked) {
    start_consuming();
    const std::string order = completed_order();
    SignedEvent event = told("order.completed", order, "m-1");
    expect_delivered(event);
    event.id = "m-2";
    expect_delivered(event);
    EXPECT_EQ(invoices(), 1);
    EXPECT_EQ(parked("billing"), 0);
    json dearer = json::parse(event.payload);
    dearer["gross"] = "999.99";
    event.id = "m-3";
    event.payload = dearer.dump();
    expect_delivered(event);
    EXPECT_EQ(parked("billing"), 1);
    EXPECT_THAT(parked_reason("billing", "m-3"), HasSubstr("same business key"));
    EXPECT_EQ(invoices(), 1);
    EXPECT_EQ(count("SELECT count(*) FROM orders_invoice WHERE order_id = $1", semel::Uuid::parse(order).value()), 1);
}

TEST_P(OrdersConsumers, AnInvoiceIsIssuedOnceAlsoWhereTheInboxHasForgotten) {
    start_consuming();
    const std::string order = completed_order();
    SignedEvent event = told("order.completed", order, "m-1");
    expect_delivered(event);
    run(GetParam() == Target::sqlite ? "DELETE FROM semel_inbox_message" : "DELETE FROM semel.inbox_message");
    expect_delivered(event);
    EXPECT_EQ(invoices(), 1);
    EXPECT_EQ(parked("billing"), 0);
    run(GetParam() == Target::sqlite ? "DELETE FROM semel_inbox_message" : "DELETE FROM semel.inbox_message");
    json other = json::parse(event.payload);
    other["net"] = "1.00";
    event.payload = other.dump();
    expect_delivered(event);
    EXPECT_EQ(invoices(), 1);
    EXPECT_THAT(parked_reason("billing", "m-1"), HasSubstr("invoiced already"));
}

TEST_P(OrdersConsumers, AnOrderThatIsCancelledDoneOrNotThereLeavesNothingToDo) {
    start_consuming();
    const std::string order = make_order();
    const SignedEvent created = told("order.created", order, "m-1");
    ASSERT_EQ(command(look_at_order(order), "cancel", because).status, 200);
    expect_delivered(created);
    EXPECT_THAT(states(order), Each(Pair(::testing::_, "CANCELLED")));
    const std::string done = completed_order();
    expect_delivered(told("order.created", done, "m-2"));
    EXPECT_EQ(state_of(done), "COMPLETED");
    // Another tenant's: there is no such order there.
    SignedEvent elsewhere = told("order.created", make_order(), "m-3");
    elsewhere.tenant = "somebody-else";
    expect_delivered(elsewhere);
    EXPECT_EQ(events("task.started"), 0);
    EXPECT_EQ(inbox("fulfilment"), 3);
    EXPECT_EQ(parked("fulfilment"), 0);
}

TEST_P(OrdersConsumers, WhatNobodyWantsIsTakenAndNotWrittenDown) {
    start_consuming();
    const std::string order = make_order();
    for (const std::string type : {"task.created", "order.progressed", "no.such", ""}) {
        SignedEvent event = told("order.created", order, "m-" + type);
        event.type = type;
        expect_delivered(event);
    }
    EXPECT_EQ(inbox("fulfilment") + inbox("billing"), 0);
    EXPECT_EQ(parked("fulfilment") + parked("billing"), 0);
    EXPECT_EQ(events("task.started"), 0);
}

TEST_P(OrdersConsumers, WhatIsNotSignedAsAgreedIsRefusedAndDoesNothing) {
    start_consuming();
    const std::string order = make_order();
    const SignedEvent good = told("order.created", order, "m-1");
    const auto without = [&](std::string_view name) {
        HttpRequest request = good.request();
        std::erase_if(request.headers, [&](const auto& field) { return field.first == name; });
        return request;
    };
    for (const std::string_view name :
         {semel::webhook::id_header, semel::webhook::timestamp_header, semel::webhook::signature_header})
        expect_refused(send(without(name)), 400, "MALFORMED_REQUEST");
    HttpRequest twice = good.request();
    twice.headers.emplace_back(semel::webhook::id_header, "m-2");
    expect_refused(send(twice), 400, "MALFORMED_REQUEST");
    SignedEvent stranger = good;
    stranger.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    expect_refused(deliver(stranger), 401, "UNAUTHENTICATED");
    for (const semel::Duration off : {-6min, 6min}) {
        SignedEvent late = good;
        late.sent += std::chrono::duration_cast<std::chrono::microseconds>(off);
        expect_refused(deliver(late), 401, "UNAUTHENTICATED");
    }
    SignedEvent long_winded = good;
    long_winded.id = std::string(300, 'm');
    expect_refused(deliver(long_winded), 401, "UNAUTHENTICATED");
    HttpRequest altered = good.request();
    altered.body += " ";
    expect_refused(send(altered), 401, "UNAUTHENTICATED");
    // What was signed under one id is not taken under another.
    HttpRequest renamed = without(semel::webhook::id_header);
    renamed.headers.emplace_back(semel::webhook::id_header, "m-2");
    expect_refused(send(renamed), 401, "UNAUTHENTICATED");
    EXPECT_EQ(inbox("fulfilment"), 0);
    EXPECT_EQ(events("task.started"), 0);
    expect_delivered(good);
    EXPECT_EQ(events("task.started"), 1);
}

TEST_P(OrdersConsumers, TheIdThatIsSignedCountsAndNotTheOneInAHeader) {
    start_consuming();
    const SignedEvent event = told("order.completed", completed_order(), "m-1");
    for (const char* forged : {"m-1", "m-2", "m-3"}) {
        HttpRequest request = event.request();
        for (auto& [name, value] : request.headers)
            if (name == "ce-id") value = forged;
        EXPECT_EQ(send(request).status, 204);
    }
    EXPECT_EQ(inbox("billing"), 1);
    EXPECT_EQ(text(GetParam() == Target::sqlite ? semel::Sql("SELECT message_id FROM semel_inbox_message")
                                                : semel::Sql("SELECT message_id FROM semel.inbox_message")),
              "m-1");
}

TEST_P(OrdersConsumers, WhatDoesNotKeepItsContractIsParkedWithTheReason) {
    start_consuming();
    const std::string order = completed_order();
    const SignedEvent good = told("order.completed", order, "");
    const auto spoiled = [&](const std::string& id, const std::function<void(SignedEvent&)>& spoil) {
        SignedEvent event = good;
        event.id = id;
        event.subject = id;
        spoil(event);
        expect_delivered(event);
        return parked_reason("billing", id);
    };
    EXPECT_THAT(spoiled("no-json", [](SignedEvent& event) { event.payload = "{\"orderId\":"; }), HasSubstr("not JSON"));
    EXPECT_THAT(spoiled("no-order", [](SignedEvent& event) { event.payload = "{}"; }), HasSubstr("orderId"));
    EXPECT_THAT(spoiled("no-sum",
                        [](SignedEvent& event) {
                            json payload = json::parse(event.payload);
                            payload["gross"] = 7;
                            event.payload = payload.dump();
                        }),
                HasSubstr("gross"));
    EXPECT_THAT(spoiled("no-tenant", [](SignedEvent& event) { event.tenant.clear(); }), HasSubstr("tenant"));
    EXPECT_THAT(spoiled("strange-tenant", [](SignedEvent& event) { event.tenant = "a%0Ab"; }), HasSubstr("tenant"));
    EXPECT_THAT(spoiled("nothing", [](SignedEvent& event) { event.payload.clear(); }), HasSubstr("not JSON"));
    EXPECT_EQ(parked("billing"), 6);
    EXPECT_EQ(invoices(), 0);
    expect_delivered(told("order.completed", order, "m-1"));
    EXPECT_EQ(invoices(), 1) << "what is parked stands in nobody's way";
}

TEST_P(OrdersConsumers, OneDocumentWithEverythingInItWillDoToo) {
    start_consuming();
    const std::string order = make_order();
    EXPECT_EQ(send(told("order.created", order, "m-1").structured()).status, 204);
    EXPECT_EQ(states(order)["RESERVE"], "RUNNING");
    EXPECT_EQ(deliver(told("order.created", order, "m-1")).status, 204);
    EXPECT_EQ(inbox("fulfilment"), 1) << "it is the same message either way";
}

TEST_P(OrdersConsumers, NothingIsTakenUnlessThatIsConfigured) {
    start();
    const std::string order = make_order();
    expect_refused(deliver(told("order.created", order, "m-1")), 404, "NOT_FOUND");
    EXPECT_THAT(members("/api/v1/invoices", "invoiceId"), IsEmpty());
    EXPECT_EQ(states(order)["RESERVE"], "READY");
}

TEST_P(OrdersConsumers, ASenderIsToldToComeAgainWhileTheStoreDoesNotTakeIt) {
    start_consuming();
    const SignedEvent event = told("order.completed", completed_order(), "m-1");
    {
        const Blocker blocker(database(), GetParam(), "LOCK TABLE orders_invoice IN ACCESS EXCLUSIVE MODE");
        const HttpResponse later = deliver(event);
        EXPECT_EQ(later.status, 503) << later.body;
        EXPECT_THAT(later.code(), AnyOf("OUTCOME_UNKNOWN", "NOT_READY"));
        EXPECT_TRUE(later.header("Retry-After"));
    }
    HttpResponse again = deliver(event);
    for (int i = 0; i < 20 && again.status == 503; ++i) again = deliver(event);
    EXPECT_EQ(again.status, 204) << again.body;
    EXPECT_EQ(invoices(), 1);
}

TEST_P(OrdersConsumers, WhatWasBegunIsFinishedBeforeTheServiceEnds) {
    start_consuming();
    const SignedEvent event = told("order.completed", completed_order(), "m-1");
    Blocker blocker(database(), GetParam(), "LOCK TABLE orders_invoice IN ACCESS EXCLUSIVE MODE");
    HttpResponse answer;
    std::jthread sender([&] { answer = deliver(event); });
    pause_for(300ms);
    service->ask_to_stop();
    pause_for(200ms);
    blocker.release();
    sender.join();
    const auto ended = service->await_end();
    ASSERT_TRUE(ended) << ended.error().describe();
    EXPECT_TRUE(ended->success()) << ended->text() << service->error_output();
    EXPECT_EQ(answer.status, 204) << answer.body;
    EXPECT_EQ(invoices(), 1);
    EXPECT_EQ(inbox("billing"), 1);
}

INSTANTIATE_TEST_SUITE_P(Databases, OrdersConsumers, ::testing::Values(Target::sqlite, Target::postgres),
                         [](const auto& target) { return name(target.param); });

}  // namespace
}  // namespace orders::testing
