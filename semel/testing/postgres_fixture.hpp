#pragma once

#include "semel/testing/postgres_cluster.hpp"

#include <gtest/gtest.h>

#include <string>

namespace semel::testing {

/// Base of tests on the shared PostgreSQL, each in an empty database of its own. Where there is
/// no PostgreSQL they are skipped, with the reason.
class PostgresTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto shared = shared_postgres();
        if (!shared) GTEST_SKIP() << shared.error().describe();
        postgres_ = *shared;
        const auto made = postgres_->fresh_database();
        ASSERT_TRUE(made) << made.error().describe();
        url_ = *made;
    }

    [[nodiscard]] PostgresCluster& postgres() { return *postgres_; }
    /// Of the empty database.
    [[nodiscard]] const std::string& url() const { return url_; }
    [[nodiscard]] std::string database() const { return url_.substr(url_.rfind('/') + 1); }

private:
    PostgresCluster* postgres_ = nullptr;
    std::string url_;
};

}  // namespace semel::testing
