#include "apps/semel/outbox.hpp"
#include "apps/semel/progress.hpp"
#include "apps/semel/report.hpp"
#include "apps/semel/store.hpp"
#include "semel/contract/contracts.hpp"
#include "semel/db/value.hpp"
#include "semel/outbox/status_events.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <map>

// `semel outbox check`: what other languages have appended is held against the contracts afterwards.

namespace semel::app {
namespace {

using nlohmann::ordered_json;

/// Payloads in memory at once; a page is one statement, short unless a filter leaves nearly everything out.
constexpr std::size_t check_page = 200;
/// Types without a contract that are named each; the rest is counted. More are a mistake of the folder's.
constexpr std::size_t named_types_max = 100;

/// What was found, in bounded memory: each breach is told as it comes, or kept up to the limit for the answer in JSON.
class Findings {
public:
    explicit Findings(const CheckArguments& arguments) : arguments_(&arguments) {}

    void add(const Message& event, const std::optional<Breach>& breach) {
        ++checked_;
        if (!breach) return;
        if (breach->unknown_type) {
            ++without_contract_;
            if (types_.size() < named_types_max || types_.contains(event.type)) ++types_[event.type];
            if (arguments_->unknown_types == UnknownTypes::allow) return;
        }
        if (++breaches_ > static_cast<std::int64_t>(arguments_->limit)) return;
        if (arguments_->json) {
            listed_.push_back(json_of(event, *breach));
            return;
        }
        clear_progress();
        print(line_of(event, *breach));
    }

    void tell() const {
        if (!arguments_->json) return tell_people();
        ordered_json types = ordered_json::object();
        for (const auto& [type, count] : types_) types[type] = count;
        const ordered_json body{{"checked", checked_},
                                {"breaches", breaches_},
                                {"withoutContract", without_contract_},
                                {"typesWithoutContract", types},
                                {"listed", listed_}};
        // Names of others may be in any encoding; a broken character must not lose the answer.
        std::puts(body.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
    }

    [[nodiscard]] std::int64_t checked() const noexcept { return checked_; }
    [[nodiscard]] ExitCode code() const noexcept { return breaches_ > 0 ? ExitCode::finding : ExitCode::ok; }

private:
    static void print(const std::string& text) { std::fputs(text.c_str(), stdout); }
    static std::string why(const Breach& breach) { return breach.unknown_type ? "there is no contract" : breach.why; }
    static ordered_json json_of(const Message& event, const Breach& breach) {
        return {{"id", event.id.text()},
                {"type", event.type},
                {"tenant", event.tenant},
                {"aggregate", event.aggregate.type + "/" + event.aggregate.id},
                {"position", event.position},
                {"createdAt", timestamp_text(event.created_at)},
                {"unknownType", breach.unknown_type},
                {"reason", why(breach)}};
    }
    static std::string line_of(const Message& event, const Breach& breach) {
        return fmt::format("{} {} tenant {} {}/{} position {} {}: {}\n", event.id.text(),
                           timestamp_text(event.created_at), event.tenant, event.aggregate.type, event.aggregate.id,
                           event.position, event.type, why(breach));
    }
    void tell_people() const {
        if (breaches_ > static_cast<std::int64_t>(arguments_->limit))
            print(fmt::format("… and {} more (--limit)\n", breaches_ - static_cast<std::int64_t>(arguments_->limit)));
        for (const auto& [type, count] : types_) print(fmt::format("no contract of {}: {} events\n", type, count));
        print(fmt::format("checked {} events, {} breaches\n", checked_, breaches_));
    }

    const CheckArguments* arguments_;
    std::int64_t checked_ = 0;
    std::int64_t breaches_ = 0;
    std::int64_t without_contract_ = 0;
    std::map<std::string, std::int64_t> types_;
    ordered_json listed_ = ordered_json::array();
};

Result<ExitCode> check_stored(const CheckArguments& arguments) {
    const EventFilter filter = SEMEL_TRY(filter_of(arguments.events, check_page, system_clock().wall()));
    const Contracts contracts = SEMEL_TRY(Contracts::load(arguments.contracts));
    const auto opened = SEMEL_TRY(open_current(arguments.database));
    Database& database = *opened.database;
    Findings findings(arguments);
    Uuid last;
    for (bool more = true; more;) {
        const auto page = SEMEL_TRY(page_of_events(database, filter, last, soon(database)));
        for (const Message& one : page) findings.add(one, contracts.breach(one.type, one.payload, one.headers));
        more = page.size() == filter.limit;
        if (more) last = page.back().id;
        show_progress("check", findings.checked(), !more);
    }
    findings.tell();
    return findings.code();
}

}  // namespace

ExitCode outbox_check(const CheckArguments& arguments) {
    return report("outbox check", check_stored(arguments), arguments.json);
}

}  // namespace semel::app
