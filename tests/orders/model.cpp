#include "tests/orders/model.hpp"

#include <algorithm>

namespace orders::model {
namespace {

constexpr std::int64_t approval_from = 1'000;
constexpr std::int64_t second_approval_from = 50'000;

std::int64_t power_of_ten(int exponent) {
    std::int64_t power = 1;
    for (; exponent > 0; --exponent) power *= 10;
    return power;
}

/// Half up; nothing here is negative.
std::int64_t rounded_quotient(std::int64_t dividend, std::int64_t divisor) {
    return (dividend + divisor / 2) / divisor;
}

}  // namespace

Catalogue first_catalogue() {
    return {
        {"fiber-100", {2'000, {{"EUR", 299'000}, {"USD", 325'000}}, {{10, 500}, {100, 1'200}}}},
        {"router-office", {2'000, {{"EUR", 7'490'000}, {"USD", 7'990'000}}, {{5, 750}, {25, 1'250}}}},
        {"static-ip", {2'000, {{"EUR", 49'500}, {"USD", 52'500}}, {{8, 1'000}}}},
        {"field-visit", {1'000, {{"EUR", 750'000}, {"USD", 820'000}}, {}}},
        {"handbook", {500, {{"EUR", 123'500}, {"USD", 134'000}}, {{50, 3'330}}}},
    };
}

int places_of(const std::string& currency) { return currency == "JPY" ? 0 : currency == "KWD" ? 3 : 2; }

std::string money_text(std::int64_t amount, int places) {
    if (places == 0) return std::to_string(amount);
    std::string digits = std::to_string(amount % power_of_ten(places));
    digits.insert(0, static_cast<std::size_t>(places) - digits.size(), '0');
    return std::to_string(amount / power_of_ten(places)) + "." + digits;
}

std::string_view name(Kind kind) {
    switch (kind) {
        case Kind::quote: return "quote";
        case Kind::order: return "order";
        case Kind::task: return "task";
        case Kind::asset: return "asset";
    }
    return "";
}

Sums& Sums::operator+=(const Sums& other) {
    net += other.net;
    tax += other.tax;
    gross += other.gross;
    return *this;
}

Sums Quote::sums() const {
    Sums all;
    for (const Line& line : lines) all += line.sums;
    return all;
}

Approval* Quote::pending() {
    return approvals.empty() || approvals.back().state != "PENDING" ? nullptr : &approvals.back();
}
const Approval* Quote::pending() const {
    return approvals.empty() || approvals.back().state != "PENDING" ? nullptr : &approvals.back();
}

Verdict Verdict::duplicate(std::vector<std::string> existing) {
    return {.status = 409, .code = "DUPLICATE_BUSINESS_COMMAND", .existing = std::move(existing)};
}
Verdict Verdict::wrong_state(const Thing& thing) {
    return {.status = 409, .code = "INVALID_STATE_TRANSITION", .state = thing.state, .version = thing.version};
}
Verdict Verdict::unacceptable() { return {.status = 422, .code = "VALIDATION_FAILED"}; }

const Thing& Model::at(Kind kind, std::size_t index) const {
    switch (kind) {
        case Kind::quote: return quotes.at(index);
        case Kind::order: return orders.at(index);
        case Kind::task: return tasks.at(index);
        case Kind::asset: break;
    }
    return assets.at(index);
}
Thing& Model::at(Kind kind, std::size_t index) { return const_cast<Thing&>(std::as_const(*this).at(kind, index)); }

std::size_t Model::count(Kind kind) const {
    switch (kind) {
        case Kind::quote: return quotes.size();
        case Kind::order: return orders.size();
        case Kind::task: return tasks.size();
        case Kind::asset: break;
    }
    return assets.size();
}

std::optional<Verdict> Model::refused(const Asked& asked, const Thing& thing, const States& states) const {
    if (std::ranges::find(states, thing.state) == states.end()) return Verdict::wrong_state(thing);
    if (asked.version != thing.version)
        return Verdict{.status = 412, .code = "PRECONDITION_FAILED", .version = thing.version};
    return std::nullopt;
}

void Model::step(const Asked& asked, Kind kind, std::size_t index, std::string_view to, std::string_view event,
                 const std::string& reason) {
    Thing& thing = at(kind, index);
    thing.version += 1;
    changes.push_back({.kind = kind,
                       .thing = index,
                       .version = thing.version,
                       .event = std::string(event),
                       .from = thing.state,
                       .to = std::string(to),
                       .operation = asked.operation,
                       .caller = asked.caller,
                       .reason = reason});
    thing.state = to;
}

void Model::begin(const Asked& asked, Kind kind, std::size_t index, std::string_view event) {
    changes.push_back({.kind = kind,
                       .thing = index,
                       .event = std::string(event),
                       .to = at(kind, index).state,
                       .operation = asked.operation,
                       .caller = asked.caller});
}

Verdict Model::take(const Asked& asked) {
    using Rule = Verdict (Model::*)(const Asked&);
    static const std::map<std::string_view, Rule> rules{
        {"quote.add_item", &Model::add_item}, {"quote.reprice", &Model::reprice}, {"quote.submit", &Model::submit},
        {"quote.approve", &Model::decide},    {"quote.reject", &Model::decide},   {"quote.accept", &Model::accept},
        {"quote.revise", &Model::revise},     {"quote.convert", &Model::convert}, {"task.complete", &Model::complete},
        {"task.fail", &Model::fail},          {"task.retry", &Model::retry},      {"order.cancel", &Model::cancel},
        {"order.repair", &Model::repair},     {"asset.modify", &Model::modify}};
    if (asked.operation == "quote.create") return create_quote(asked);
    if (!asked.version) return {.status = 428, .code = "PRECONDITION_REQUIRED"};
    if (asked.operation == "asset.modify" && asked.new_quantity.has_value() != (asked.word == "SET_QUANTITY"))
        return Verdict::unacceptable();
    if (!asked.thing) return {.status = 404, .code = "NOT_FOUND"};
    return (this->*rules.at(asked.operation))(asked);
}

Verdict Model::create_quote(const Asked& asked) {
    Quote quote;
    quote.state = "DRAFT";
    quote.customer = asked.customer;
    quote.currency = asked.currency;
    quotes.push_back(std::move(quote));
    begin(asked, Kind::quote, quotes.size() - 1, "quote.created");
    return {.status = 201};
}

bool Model::price(Line& line, const std::string& currency) const {
    const auto product = catalogue.find(line.sku);
    const bool is_known = product != catalogue.end();
    if (!line.agreed) {
        if (!is_known || !product->second.list_prices.contains(currency)) return false;
        line.unit_price = product->second.list_prices.at(currency);
        const auto& discounts = product->second.discounts;
        const auto beyond = discounts.upper_bound(line.quantity);
        line.discount = beyond == discounts.begin() ? 0 : std::prev(beyond)->second;
    }
    // What the catalogue does not know is taxed at twenty per cent.
    line.tax_rate = is_known ? product->second.tax_rate : 2'000;
    const std::int64_t exact = line.unit_price * line.quantity * (one - line.discount);  // Places: four and four.
    line.sums.net = rounded_quotient(exact, power_of_ten(8 - places_of(currency)));
    line.sums.tax = rounded_quotient(line.sums.net * line.tax_rate, one);
    line.sums.gross = line.sums.net + line.sums.tax;
    return true;
}

Verdict Model::add_item(const Asked& asked) {
    Quote& quote = quotes[*asked.thing];
    if (auto verdict = refused(asked, quote, {"DRAFT"})) return *verdict;
    Line line{.sku = asked.sku,
              .quantity = asked.quantity,
              .instance_key = asked.instance_key,
              .unit_price = asked.unit_price.value_or(0),
              .agreed = asked.unit_price.has_value()};
    const auto is_same_instance = [&](const Line& other) {
        return !other.instance_key.empty() && other.instance_key == line.instance_key;
    };
    if (std::ranges::any_of(quote.lines, is_same_instance)) return Verdict::unacceptable();
    if (!price(line, quote.currency)) return Verdict::unacceptable();
    quote.lines.push_back(std::move(line));
    step(asked, Kind::quote, *asked.thing, "DRAFT", "quote.item_added");
    return {.status = 201};
}

Verdict Model::reprice(const Asked& asked) {
    Quote& quote = quotes[*asked.thing];
    const bool was_run = !asked.run.empty() && quote.runs.contains(asked.run);
    // A run that was done is named whichever version its caller has seen.
    if (quote.state == "DRAFT" && was_run) return Verdict::duplicate({asked.run});
    if (auto verdict = refused(asked, quote, {"DRAFT"})) return *verdict;
    for (Line& line : quote.lines)
        if (!price(line, quote.currency)) return Verdict::unacceptable();
    if (!asked.run.empty()) quote.runs.insert(asked.run);
    step(asked, Kind::quote, *asked.thing, "DRAFT", "quote.repriced");
    return {};
}

Verdict Model::submit(const Asked& asked) {
    Quote& quote = quotes[*asked.thing];
    if (auto verdict = refused(asked, quote, {"DRAFT"})) return *verdict;
    if (quote.lines.empty()) return Verdict::wrong_state(quote);
    const std::int64_t whole = power_of_ten(places_of(quote.currency));
    const std::int64_t gross = quote.sums().gross;
    const std::int64_t needed = gross >= second_approval_from * whole ? 2 : gross >= approval_from * whole ? 1 : 0;
    if (needed == 0) {
        step(asked, Kind::quote, *asked.thing, "APPROVED", "quote.approved");
        return {};
    }
    quote.approvals.push_back({.revision = quote.revision, .needed = needed});
    step(asked, Kind::quote, *asked.thing, "SUBMITTED", "quote.submitted");
    return {};
}

Verdict Model::decide(const Asked& asked) {
    Quote& quote = quotes[*asked.thing];
    for (const Approval& approval : quote.approvals)
        for (const auto& [approver, word] : approval.decisions)
            if (approval.revision == quote.revision && approver == asked.caller) return Verdict::duplicate();
    if (auto verdict = refused(asked, quote, {"SUBMITTED"})) return *verdict;
    Approval& approval = *quote.pending();
    if (asked.operation == "quote.reject") {
        approval.decisions.emplace_back(asked.caller, "REJECT");
        approval.state = "REJECTED";
        step(asked, Kind::quote, *asked.thing, "REJECTED", "quote.rejected", asked.reason);
        return {};
    }
    approval.decisions.emplace_back(asked.caller, "APPROVE");
    approval.granted += 1;
    if (approval.granted < approval.needed) {
        step(asked, Kind::quote, *asked.thing, "SUBMITTED", "quote.approval_granted", asked.reason);
        return {};
    }
    approval.state = "GRANTED";
    step(asked, Kind::quote, *asked.thing, "APPROVED", "quote.approved", asked.reason);
    return {};
}

Verdict Model::accept(const Asked& asked) {
    Quote& quote = quotes[*asked.thing];
    if (quote.accepted.contains(quote.revision)) return Verdict::duplicate();
    if (auto verdict = refused(asked, quote, {"APPROVED"})) return *verdict;
    quote.accepted.insert(quote.revision);
    step(asked, Kind::quote, *asked.thing, "ACCEPTED", "quote.accepted");
    return {};
}

Verdict Model::revise(const Asked& asked) {
    Quote& quote = quotes[*asked.thing];
    if (auto verdict = refused(asked, quote, {"SUBMITTED", "APPROVED", "REJECTED", "EXPIRED"})) return *verdict;
    if (Approval* pending = quote.pending()) pending->state = "WITHDRAWN";
    quote.revision += 1;
    step(asked, Kind::quote, *asked.thing, "DRAFT", "quote.revised");
    return {};
}

void Model::expire(std::size_t index) {
    if (Approval* pending = quotes[index].pending()) pending->state = "WITHDRAWN";
    step({.operation = "quote.expire", .caller = "semel-orders"}, Kind::quote, index, "EXPIRED", "quote.expired");
}

}  // namespace orders::model
