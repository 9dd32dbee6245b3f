#include "semel/http/health.hpp"

#include "semel/testing/manual_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace semel::http {
namespace {

using namespace std::chrono_literals;

class HealthTest : public ::testing::Test {
protected:
    void make() {
        health.add_to(router);
        livez = router.find_literal("GET", "/livez");
        readyz = router.find_literal("GET", "/readyz");
    }
    unsigned ready() {
        if (auto known = readyz->at_once(request)) return known->status;
        return readyz->handle(request).status;
    }
    testing::ManualClock clock;
    int asked = 0;
    bool store_is_there = true;
    Deadline given;
    Health health{{.ready = [this](Deadline deadline) -> Status {
                      ++asked;
                      given = deadline;
                      if (store_is_there) return {};
                      return fail(Fault::unavailable, "the store at db.internal is away");
                  }},
                  clock};
    Router router;
    const Route* livez = nullptr;
    const Route* readyz = nullptr;
    Request request;
};

TEST_F(HealthTest, LivesWithoutAskingTheStore) {
    make();
    store_is_there = false;
    EXPECT_EQ(livez->at_once(request)->status, 200U);
    EXPECT_TRUE(livez->open);
    EXPECT_EQ(asked, 0);
}

TEST_F(HealthTest, AsksTheStoreBrieflyAndBelievesItForAMoment) {
    make();
    EXPECT_EQ(ready(), 200U);
    EXPECT_EQ(given, Deadline::after(clock.now(), 500ms));
    store_is_there = false;
    EXPECT_EQ(ready(), 200U);
    EXPECT_EQ(asked, 1);
    clock.advance(1s);
    EXPECT_EQ(ready(), 503U);
    EXPECT_EQ(asked, 2);
    const Response answer = *readyz->at_once(request);
    EXPECT_EQ(answer.body.find("db.internal"), std::string::npos) << "clients need not know what it is called";
    EXPECT_NE(answer.body.find("NOT_READY"), std::string::npos);
}

TEST_F(HealthTest, IsNotReadyFromTheDrainOn) {
    make();
    EXPECT_EQ(ready(), 200U);
    health.drain();
    EXPECT_EQ(ready(), 503U);
    EXPECT_EQ(livez->at_once(request)->status, 200U);
}

}  // namespace
}  // namespace semel::http
