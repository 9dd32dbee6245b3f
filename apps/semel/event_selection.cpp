#include "apps/semel/event_selection.hpp"

#include "apps/semel/duration.hpp"

namespace semel::app {

Result<Aggregate> parse_aggregate(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == text.size())
        return fail(Fault::rejected, "an aggregate is written as TYPE/ID");
    return Aggregate{.type = text.substr(0, slash), .id = text.substr(slash + 1)};
}

Result<EventFilter> filter_of(const EventSelection& selection, std::size_t limit, Timestamp now) {
    EventFilter filter;
    filter.limit = limit;
    if (!selection.type.empty()) filter.type = selection.type;
    if (!selection.since.empty()) filter.since = SEMEL_TRY(parse_moment(selection.since, now));
    if (!selection.until.empty()) filter.until = SEMEL_TRY(parse_moment(selection.until, now));
    if (!selection.tenant.empty()) filter.tenant = selection.tenant;
    if (!selection.aggregate.empty()) {
        Aggregate aggregate = SEMEL_TRY(parse_aggregate(selection.aggregate));
        filter.aggregate_type = std::move(aggregate.type);
        filter.aggregate_id = std::move(aggregate.id);
    }
    return filter;
}

}  // namespace semel::app
