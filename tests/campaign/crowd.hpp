#pragma once

#include "tests/orders/http_client.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace semel::campaign {

/// Who sends what, how often.
struct CrowdOptions {
    int clients = 64;
    int keys = 1000;
    int sends_per_key = 8;
    int changed_percent = 5;  ///< Sends whose payload is another than the key's usual one.
    /// Longest pause of a client between two requests: how long a campaign lasts, where something else is to happen
    /// meanwhile.
    semel::Duration pause_max{};
    std::uint64_t seed = 1;
};

/// One request of the campaign: even keys create payments, odd ones quotes (which no key of their own keeps unique).
struct Send {
    int key = 0;
    int variant = 0;  ///< Of the payload: 0 is the usual one.

    [[nodiscard]] bool payment() const noexcept { return key % 2 == 0; }
    [[nodiscard]] orders::testing::HttpRequest request(int attempt) const;
};

/// What all clients together were told.
struct Told {
    std::map<int, std::set<int>> owners;           ///< By key: the payloads that were answered with a reply.
    std::map<int, std::set<std::string>> replies;  ///< By key: every different reply, status and headers included.
    std::map<int, std::set<int>> refused;          ///< By key: the payloads that were refused for good.
    std::map<int, std::string> ids;                ///< By key: what was created.
    std::map<std::string, int> other;              ///< Answers that no client should ever get, with their number.
    std::uint64_t final_replies = 0;
    std::uint64_t final_refusals = 0;
    std::uint64_t repeats = 0;     ///< Requests that had to be sent again: in progress, unknown, no answer.
    std::uint64_t unanswered = 0;  ///< Of them: the connection broke or the server was away.
    std::uint64_t unknown = 0;     ///< Of them: 503 OUTCOME_UNKNOWN.
    std::uint64_t abandoned = 0;   ///< Never got a final answer.
};

/// Sends everything at once from many connections, each request again with the same key until its answer is final,
/// as a decent client does. Returns when all have theirs.
[[nodiscard]] Told run_crowd(int port, const CrowdOptions& options);

/// One owner per key, one reply per key byte for byte, every other payload refused, nothing else ever said.
void expect_one_answer_per_key(const Told& told, const CrowdOptions& options);

/// For the report.
void print(const char* name, const Told& told, double seconds);

}  // namespace semel::campaign
