#include "tests/orders/journey.hpp"

namespace orders::testing {
namespace {

HttpRequest posting(const std::string& target, const std::string& key, const std::string& body, Fields headers) {
    headers.emplace_back("Idempotency-Key", key);
    headers.emplace_back("Content-Type", "application/json");
    return {.method = "POST", .target = target, .headers = std::move(headers), .body = body};
}

}  // namespace

HttpResponse Journey::take(QuoteAt& quote, const std::string& step, const std::string& body, Fields headers) {
    for (const auto& field : quote.seen()) headers.push_back(field);
    HttpResponse answer = send_(posting(quote.path("/" + step), next_key(), body, std::move(headers)));
    EXPECT_EQ(answer.status / 100, 2) << step << ": " << answer.body;
    quote.version += 1;
    return answer;
}

QuoteAt Journey::draft_with_items(const std::vector<std::string>& items) {
    const HttpResponse made =
        send_(posting("/api/v1/quotes", next_key(), R"({"customerId":"c-1","currency":"EUR"})", {}));
    EXPECT_EQ(made.status, 201) << made.body;
    QuoteAt quote{.id = made.member("quoteId")};
    for (const std::string& item : items) take(quote, "items", item);
    return quote;
}

QuoteAt Journey::submitted(const std::vector<std::string>& items) {
    QuoteAt quote = draft_with_items(items);
    take(quote, "submit");
    return quote;
}

QuoteAt Journey::approved(const std::vector<std::string>& items) {
    QuoteAt quote = draft_with_items(items);
    std::string state = take(quote, "submit").member("state");
    for (int approver = 1; state == "SUBMITTED"; ++approver)
        state = take(quote, "approve", "{}", {{"X-Caller-Id", "approver-" + std::to_string(approver)}}).member("state");
    EXPECT_EQ(state, "APPROVED");
    return quote;
}

QuoteAt Journey::accepted(const std::vector<std::string>& items) {
    QuoteAt quote = approved(items);
    take(quote, "accept");
    return quote;
}

}  // namespace orders::testing
