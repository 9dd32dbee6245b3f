#include "tests/campaign/crowd.hpp"

#include "semel/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>

namespace semel::campaign {
namespace {

using namespace std::chrono_literals;
using orders::testing::HttpConnection;
using orders::testing::HttpResponse;

/// Longest that one request is repeated: far longer than any failover.
constexpr Duration patience = 60s;

std::vector<Send> shuffled(const CrowdOptions& options) {
    SeededRandom random(options.seed);
    std::vector<Send> sends;
    for (int key = 0; key < options.keys; ++key)
        for (int n = 0; n < options.sends_per_key; ++n) {
            const bool changed = random.below(100) < static_cast<std::uint64_t>(options.changed_percent);
            sends.push_back({.key = key, .variant = changed ? 1 + static_cast<int>(random.below(2)) : 0});
        }
    for (std::size_t i = sends.size(); i > 1; --i) std::swap(sends[i - 1], sends[random.below(i)]);
    return sends;
}

/// Everything of a reply that a repeat must get again.
std::string bytes_of_reply(const HttpResponse& response) {
    std::string text = std::to_string(response.status) + "\n";
    for (const char* name : {"Content-Type", "Location", "ETag", "Last-Modified"})
        text += std::string(name) + ": " + response.header(name).value_or("") + "\n";
    return text + response.body;
}

enum class Verdict { reply, refused, again, unanswered, unknown, wrong };

Verdict judge(const Result<HttpResponse>& response) {
    if (!response) return Verdict::unanswered;
    if (response->status == 201 || response->status == 200) return Verdict::reply;
    const std::string code = response->code();
    if (code == "IDEMPOTENCY_KEY_CONFLICT") return Verdict::refused;
    if (code == "REQUEST_ALREADY_IN_PROGRESS") return Verdict::again;
    if (code == "OUTCOME_UNKNOWN") return Verdict::unknown;
    if (response->status == 503) return Verdict::again;
    return Verdict::wrong;
}

/// One connection that is opened anew whenever it breaks.
class Client {
public:
    explicit Client(int port) : port_(port) {}

    Result<HttpResponse> exchange(const orders::testing::HttpRequest& request) {
        if (!connection_) {
            auto opened = HttpConnection::open(port_);
            if (!opened) return fail(std::move(opened).error());
            connection_.emplace(*std::move(opened));
        }
        auto response = connection_->exchange(request);
        if (!response || response->header("Connection").value_or("") == "close") connection_.reset();
        return response;
    }

private:
    int port_;
    std::optional<HttpConnection> connection_;
};

/// What one thread was told; merged at the end.
class Member {
public:
    Member(int port, const CrowdOptions& options, std::uint64_t seed)
        : client_(port), options_(&options), random_(seed) {}

    void send(const Send& what) {
        const Instant until = system_clock().now() + patience;
        for (int attempt = 1;; ++attempt) {
            const auto response = client_.exchange(what.request(attempt));
            const Verdict verdict = judge(response);
            if (verdict == Verdict::reply) return note_reply(what, *response);
            if (verdict == Verdict::refused) return note_refusal(what);
            if (verdict == Verdict::wrong) {
                ++told.other[std::to_string(response->status) + " " + response->body];
                return;
            }
            ++told.repeats;
            if (verdict == Verdict::unanswered) ++told.unanswered;
            if (verdict == Verdict::unknown) ++told.unknown;
            if (system_clock().now() > until) {
                ++told.abandoned;
                return;
            }
            pause(verdict == Verdict::unanswered ? 60ms : 20ms);
        }
    }
    void pause(Duration at_most) {
        if (at_most <= Duration::zero()) return;
        std::this_thread::sleep_for(
            Duration(static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(at_most.count())))));
    }
    [[nodiscard]] const CrowdOptions& options() const { return *options_; }

    Told told;

private:
    void note_reply(const Send& what, const HttpResponse& response) {
        ++told.final_replies;
        told.owners[what.key].insert(what.variant);
        told.replies[what.key].insert(bytes_of_reply(response));
        told.ids[what.key] = response.member(what.payment() ? "paymentId" : "quoteId");
    }
    void note_refusal(const Send& what) {
        ++told.final_refusals;
        told.refused[what.key].insert(what.variant);
    }

    Client client_;
    const CrowdOptions* options_;
    SeededRandom random_;
};

void merge(Told& all, Told&& part) {
    for (auto& [key, variants] : part.owners) all.owners[key].merge(variants);
    for (auto& [key, replies] : part.replies) all.replies[key].merge(replies);
    for (auto& [key, variants] : part.refused) all.refused[key].merge(variants);
    all.ids.merge(part.ids);
    for (const auto& [answer, count] : part.other) all.other[answer] += count;
    all.final_replies += part.final_replies;
    all.final_refusals += part.final_refusals;
    all.repeats += part.repeats;
    all.unanswered += part.unanswered;
    all.unknown += part.unknown;
    all.abandoned += part.abandoned;
}

}  // namespace

orders::testing::HttpRequest Send::request(int attempt) const {
    const std::string name = "k" + std::to_string(key);
    const std::string value = std::to_string(variant + 1);
    const std::string body = payment()
                                 ? R"({"reference":")" + name + R"(","amount":")" + value + R"(.50","currency":"EUR"})"
                                 : R"({"customerId":")" + name + "-" + value + R"(","currency":"EUR"})";
    return {.method = "POST",
            .target = payment() ? "/api/v1/payments" : "/api/v1/quotes",
            .headers = {{"Content-Type", "application/json"},
                        {"Idempotency-Key", name},
                        {"X-Tenant-Id", "shop"},
                        {"X-Caller-Id", "crowd"},
                        {"X-Attempt", std::to_string(attempt)}},
            .body = body};
}

Told run_crowd(int port, const CrowdOptions& options) {
    const std::vector<Send> sends = shuffled(options);
    std::atomic<std::size_t> next = 0;
    Told all;
    std::mutex mutex;
    {
        std::vector<std::jthread> threads;
        for (int n = 0; n < options.clients; ++n)
            threads.emplace_back([&, n] {
                Member member(port, options, options.seed * 1000 + static_cast<std::uint64_t>(n));
                for (std::size_t at = next++; at < sends.size(); at = next++) {
                    member.send(sends[at]);
                    member.pause(options.pause_max);
                }
                const std::lock_guard guard(mutex);
                merge(all, std::move(member.told));
            });
    }
    return all;
}

void expect_one_answer_per_key(const Told& told, const CrowdOptions& options) {
    EXPECT_EQ(told.abandoned, 0U) << "requests without a final answer";
    for (const auto& [answer, count] : told.other) ADD_FAILURE() << count << " times: " << answer;
    EXPECT_EQ(told.final_replies + told.final_refusals,
              static_cast<std::uint64_t>(options.keys) * static_cast<std::uint64_t>(options.sends_per_key));
    EXPECT_EQ(told.owners.size(), static_cast<std::size_t>(options.keys)) << "keys that were answered";
    for (const auto& [key, variants] : told.owners) {
        EXPECT_EQ(variants.size(), 1U) << "key " << key << " belongs to more than one payload";
        EXPECT_EQ(told.replies.at(key).size(), 1U) << "key " << key << " was answered in more than one way";
        const auto refused = told.refused.find(key);
        if (refused == told.refused.end()) continue;
        for (const int variant : refused->second)
            EXPECT_FALSE(variants.contains(variant)) << "key " << key << ": one payload, executed and refused";
    }
}

void print(const char* name, const Told& told, double seconds) {
    std::printf("%s: %lu replies and %lu refusals for %zu keys in %.1f s; %lu repeats (%lu unanswered, %lu unknown)\n",
                name, told.final_replies, told.final_refusals, told.owners.size(), seconds, told.repeats,
                told.unanswered, told.unknown);
}

}  // namespace semel::campaign
