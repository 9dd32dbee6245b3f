#include "apps/orders/demo.hpp"

#include "apps/orders/handlers/convert.hpp"
#include "apps/orders/handlers/quote_life.hpp"
#include "apps/orders/handlers/tasks.hpp"
#include "apps/orders/storage/quotes.hpp"
#include "apps/orders/storage/tasks.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace orders {
namespace {

using semel::Fault;
using semel::Result;
using semel::Status;
using semel::Uuid;
using semel::Work;

constexpr std::string_view tenant = "public";
constexpr std::string_view seller = "ann";
constexpr std::string_view approver = "bob";
constexpr std::string_view technician = "tom";

/// Longer than a demo lives, so that a command of it is always known again and never done anew.
constexpr semel::Duration kept_for = std::chrono::hours(24 * 3650);
/// For one look at the store.
constexpr semel::Duration read_limit = std::chrono::seconds(10);

/// What the demo does first and last: by these it knows how far it came.
struct DemoCommand {
    std::string_view operation;
    std::string_view key;
};
constexpr DemoCommand first{.operation = "quote.create", .key = "demo-completed"};
constexpr DemoCommand last{.operation = "quote.add_item", .key = "demo-draft-2"};

struct Line {
    std::string sku;
    std::int64_t quantity = 1;
    std::string instance_key{};
};

/// A quote as far as the demo has come with it.
struct DemoQuote {
    std::string key;  ///< What the keys of its commands begin with.
    SeenQuote seen;
};

class Demo {
public:
    explicit Demo(semel::Executor& executor) : executor_(executor) {}

    [[nodiscard]] Result<bool> has_done(const DemoCommand& command) {
        const auto identity = SEMEL_TRY(semel::Identity::of(tenant, seller, command.operation, command.key));
        return SEMEL_TRY(executor_.look_up(identity.command_id(), soon())).has_value();
    }
    [[nodiscard]] Result<bool> is_empty() { return !SEMEL_TRY(has_any_quote(executor_.database(), soon())); }

    [[nodiscard]] Result<DemoQuote> draft(std::string_view key, const std::string& customer,
                                          const std::vector<Line>& lines) {
        DemoQuote quote{.key = std::string(key), .seen = {}};
        const auto create = [&](Work& work) -> Result<Handled<Quote>> {
            return create_quote({.customer_id = customer, .currency = "EUR"}, policy_, work);
        };
        quote.seen = {.id = SEMEL_TRY(run(seller, "quote.create", quote.key, create)), .version = 1};
        for (const Line& line : lines)
            SEMEL_TRY(step(quote, seller, "quote.add_item", [&](Work& work) {
                return add_quote_item({.quote = quote.seen,
                                       .sku = line.sku,
                                       .quantity = line.quantity,
                                       .instance_key = line.instance_key},
                                      work);
            }));
        return quote;
    }
    [[nodiscard]] Status submit(DemoQuote& quote) {
        return step(quote, seller, "quote.submit", [&](Work& work) { return submit_quote(quote.seen, policy_, work); });
    }
    [[nodiscard]] Status approve(DemoQuote& quote) {
        return step(quote, approver, "quote.approve",
                    [&](Work& work) { return approve_quote({.quote = quote.seen, .reason = "fair price"}, work); });
    }
    [[nodiscard]] Status accept(DemoQuote& quote) {
        return step(quote, seller, "quote.accept", [&](Work& work) { return accept_quote(quote.seen, work); });
    }
    /// The order of a quote that nobody has to approve.
    [[nodiscard]] Result<Uuid> order(std::string_view key, const std::string& customer,
                                     const std::vector<Line>& lines) {
        auto quote = SEMEL_TRY(draft(key, customer, lines));
        SEMEL_TRY(submit(quote));
        SEMEL_TRY(accept(quote));
        return run(seller, "quote.convert", quote.key, [&](Work& work) {
            return convert_quote({.quote_id = quote.seen.id, .expected_version = quote.seen.version}, work);
        });
    }
    [[nodiscard]] Status complete(const Uuid& order, std::string_view kind) {
        const Uuid task = SEMEL_TRY(task_of(order, kind));
        std::ignore = SEMEL_TRY(run(technician, "task.complete", "demo-" + task.text(),
                                    [&](Work& work) { return complete_task({.task_id = task}, work); }));
        return {};
    }
    [[nodiscard]] Status fail(const Uuid& order, std::string_view kind, const std::string& reason) {
        const Uuid task = SEMEL_TRY(task_of(order, kind));
        std::ignore = SEMEL_TRY(run(technician, "task.fail", "demo-" + task.text(),
                                    [&](Work& work) { return fail_task({.task_id = task, .reason = reason}, work); }));
        return {};
    }

private:
    [[nodiscard]] semel::Deadline soon() {
        return semel::Deadline::after(executor_.database().clock().now(), read_limit);
    }

    /// One command, and the id of what it made or changed. That is its whole reply, so a repeat has it too.
    template <class Handle>
    [[nodiscard]] Result<Uuid> run(std::string_view caller, std::string_view operation, const std::string& key,
                                   const Handle& handle) {
        const semel::Command command{.identity = SEMEL_TRY(semel::Identity::of(tenant, caller, operation, key)),
                                     .fingerprint = SEMEL_TRY(semel::fingerprint({.operation = operation})),
                                     .correlation_id = key};
        const auto answer = [&](Work& work) -> Result<semel::Reply> {
            const auto handled = SEMEL_TRY(handle(work));
            if (std::holds_alternative<Refusal>(handled))
                return semel::fail(Fault::rejected, "it was refused: somebody has changed what the demo had begun");
            return semel::Reply{.body = std::get<0>(handled).id.text()};
        };
        // Another process may be at the same command: then its reply is as good.
        auto done = executor_.execute(command, {.retention = kept_for, .in_progress = semel::InProgress::wait}, answer);
        if (!done.committed())
            return semel::fail(semel::Error(done.error()).within("demo: " + std::string(operation) + " " + key));
        return Uuid::parse(done.value().reply.body);
    }
    /// One command on a quote: it is one version on then.
    template <class Handle>
    [[nodiscard]] Status step(DemoQuote& quote, std::string_view caller, std::string_view operation,
                              const Handle& handle) {
        std::ignore = SEMEL_TRY(run(caller, operation, quote.key + "-" + std::to_string(quote.seen.version), handle));
        quote.seen.version += 1;
        return {};
    }
    /// The first task of this kind.
    [[nodiscard]] Result<Uuid> task_of(const Uuid& order, std::string_view kind) {
        const auto tasks =
            SEMEL_TRY(list_tasks(executor_.database(), soon(), tenant, {.order_id = order}, {.limit = 100}));
        const auto found = std::ranges::find(tasks, kind, &Task::kind);
        if (found == tasks.end()) return semel::fail(Fault::broken, "demo: an order without " + std::string(kind));
        return found->id;
    }

    semel::Executor& executor_;
    const QuotePolicy policy_{};  ///< The usual one: the demo is the same wherever it is shown.
};

/// What there is to see.
Status tell(Demo& demo) {
    const Uuid completed = SEMEL_TRY(demo.order("demo-completed", "clinic-east", {{"fiber-100", 1, "line-300"}}));
    for (const std::string_view kind : {task_kind::reserve, task_kind::provision, task_kind::activate})
        SEMEL_TRY(demo.complete(completed, kind));

    const Uuid held = SEMEL_TRY(demo.order("demo-held", "kiosk-west", {{"static-ip", 1, "address-7"}}));
    SEMEL_TRY(demo.fail(held, task_kind::reserve, "no address is free"));

    const Uuid begun = SEMEL_TRY(demo.order("demo-begun", "studio-nord", {{"fiber-1000", 1, "line-200"}}));
    SEMEL_TRY(demo.complete(begun, task_kind::reserve));

    auto accepted = SEMEL_TRY(demo.draft("demo-accepted", "cafe-linde", {{"fiber-100", 1, "line-100"}}));
    SEMEL_TRY(demo.submit(accepted));
    SEMEL_TRY(demo.accept(accepted));

    auto approved =
        SEMEL_TRY(demo.draft("demo-approved", "law-office-ott", {{"router-office", 1}, {"fiber-1000", 10}}));
    SEMEL_TRY(demo.submit(approved));
    SEMEL_TRY(demo.approve(approved));

    auto waiting = SEMEL_TRY(demo.draft("demo-waiting", "bakery-kern", {{"router-office", 2}}));
    SEMEL_TRY(demo.submit(waiting));

    std::ignore = SEMEL_TRY(demo.draft("demo-draft", "hotel-sonne", {{"fiber-100", 12}, {"router-home", 3}}));
    return {};
}

}  // namespace

Result<std::string> fill_demo(semel::Executor& executor) {
    Demo demo(executor);
    if (SEMEL_TRY(demo.has_done(last))) return "demo: it is there already";
    if (!SEMEL_TRY(demo.is_empty()) && !SEMEL_TRY(demo.has_done(first)))
        return "demo: the store has quotes of others, so it is left as it is";
    SEMEL_TRY(tell(demo));
    return "demo: made 7 quotes, 3 orders and 1 asset for the tenant public; docs/tour.md walks through it";
}

}  // namespace orders
