#pragma once

#include "tests/orders/fixture.hpp"

#include <functional>
#include <string>
#include <vector>

namespace orders::testing {

/// A quote as far as a journey has come.
struct QuoteAt {
    std::string id;
    int version = 1;

    [[nodiscard]] std::string path(const std::string& rest = {}) const { return "/api/v1/quotes/" + id + rest; }
    [[nodiscard]] Fields seen() const { return {{"If-Match", "\"quote-version-" + std::to_string(version) + "\""}}; }
};

/// Brings quotes to where a test begins. Each step is a command over HTTP under a key of its own; one that is not done
/// fails the test. From one thread at a time.
class Journey {
public:
    using Send = std::function<HttpResponse(const HttpRequest&)>;
    explicit Journey(Send send) : send_(std::move(send)) {}

    /// Of customer c-1, in EUR. The bodies are those of items; none: one fiber-100.
    [[nodiscard]] QuoteAt draft_with_items(const std::vector<std::string>& items = {cheap});
    [[nodiscard]] QuoteAt submitted(const std::vector<std::string>& items = {dear});
    /// A cheap one needs nobody, a dear one one approval, by approver-1.
    [[nodiscard]] QuoteAt approved(const std::vector<std::string>& items = {cheap});
    [[nodiscard]] QuoteAt accepted(const std::vector<std::string>& items = {cheap});

    /// One command on a quote, that must be done: the quote is one version on.
    HttpResponse take(QuoteAt& quote, const std::string& step, const std::string& body = "{}", Fields headers = {});

    /// 35.88 EUR: nobody has to approve that.
    static constexpr const char* cheap = R"({"sku":"fiber-100","quantity":1})";
    /// 1797.60 EUR: one approval.
    static constexpr const char* dear = R"({"sku":"router-office","quantity":2})";
    /// 78645.00 EUR: two approvals.
    static constexpr const char* very_dear = R"({"sku":"router-office","quantity":100})";

private:
    [[nodiscard]] std::string next_key() { return "journey-" + std::to_string(++keys_); }

    Send send_;
    int keys_ = 0;
};

/// A test that begins in the middle of a life.
class JourneyTest : public OrdersTest {
protected:
    /// A command on a quote by whoever has seen it like this, as a test wants it: it may be refused.
    [[nodiscard]] HttpResponse command(const QuoteAt& quote, const std::string& step, const std::string& key,
                                       const std::string& body = "{}", Fields headers = {}) const {
        for (const auto& field : quote.seen()) headers.push_back(field);
        return post(quote.path("/" + step), key, body, headers);
    }

    Journey journey{[this](const HttpRequest& request) { return send(request); }};
};

/// A problem with this status and code, that says something.
inline void expect_refused(const HttpResponse& answer, int status, const std::string& code) {
    EXPECT_EQ(answer.status, status) << answer.body;
    EXPECT_EQ(answer.code(), code) << answer.body;
    EXPECT_NE(answer.member("detail"), "") << answer.body;
}

}  // namespace orders::testing
