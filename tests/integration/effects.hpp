#pragma once

#include "semel/testing/postgres_cluster.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

namespace semel::integration {

/// How often each id stands in the table `effect`: one query, whatever their number.
inline std::map<std::string, int> count_effects(const testing::PostgresCluster& server,
                                                std::string_view database = "postgres") {
    const auto all = server.scalar("SELECT coalesce(string_agg(id, ','), '') FROM effect", database);
    EXPECT_TRUE(all) << all.error().describe();
    std::map<std::string, int> counts;
    for (std::string_view rest = all ? std::string_view(*all) : std::string_view(); !rest.empty();) {
        const std::string_view id = rest.substr(0, rest.find(','));
        ++counts[std::string(id)];
        rest.remove_prefix(std::min(rest.size(), id.size() + 1));
    }
    return counts;
}

/// Answers by id against what is there: once if committed, never if not, either if unknown.
inline void expect_answers_match(const std::map<std::string, std::string>& answers,
                                 std::map<std::string, int> effects) {
    for (const auto& [id, answer] : answers) {
        const int found = effects[id];
        if (answer == "unknown") {
            EXPECT_LE(found, 1) << id << " happened twice";
        } else {
            EXPECT_EQ(found, answer == "committed" ? 1 : 0) << id << " was answered " << answer;
        }
    }
}

}  // namespace semel::integration
