#include "semel/postgres/pipeline.hpp"

#include "semel/base/random.hpp"
#include "semel/postgres/decode.hpp"

#include <libpq-fe.h>

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace semel::postgres {
namespace {

/// What the names of one session's statements begin with: letters and digits, so that DEALLOCATE takes them unquoted.
/// Asked of the system, so that processes that were forked from one do not draw the same.
std::string prefix_of_a_session() {
    constexpr std::uint64_t eight_digits = 2'821'109'907'456;  // 36 to the power of 8.
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) number = system_random().next();
    char digits[8];
    const auto end = std::to_chars(digits, digits + sizeof digits, number % eight_digits, 36).ptr;
    std::string prefix = "semel_";
    return prefix.append(digits, end).append("_");
}

/// Whether a statement returns the same columns for as long as it is prepared; else the server says so. FETCH, EXECUTE
/// and their like may return others each time.
bool keeps_its_columns(std::string_view sql) {
    for (;;) {
        while (!sql.empty() && (sql.front() == ' ' || sql.front() == '\n')) sql.remove_prefix(1);
        if (!sql.starts_with("--")) break;
        sql.remove_prefix(std::min(sql.find('\n'), sql.size()));
    }
    constexpr std::array<std::string_view, 5> kept{"select", "with", "insert", "update", "delete"};
    const auto lower = [](char letter) { return static_cast<char>(letter | 0x20); };
    return std::ranges::any_of(
        kept, [&](std::string_view word) { return std::ranges::equal(sql.substr(0, word.size()), word, {}, lower); });
}

}  // namespace

Pipeline::Pipeline(PGconn* connection, Clock& clock, std::size_t statements_max)
    : wire_(connection, clock), cache_(statements_max, prefix_of_a_session()) {}

void Pipeline::stop_using_names() noexcept {
    names_ = false;
    cache_.forget_names();
}

void Pipeline::prepare_again(const Item& item) noexcept {
    if (item.entry != nullptr) cache_.forget_name(*item.entry);
}

Status Pipeline::add(Step step, std::string_view sql, std::span<const Parameter> parameters,
                     std::optional<std::int64_t> last) {
    const std::size_t before = arena_.size();
    const Arena::Range range = SEMEL_TRY(arena_.add(parameters, last));
    items_.push_back(
        {.step = step, .entry = &cache_.entry(sql), .parameters = range, .bytes = arena_.size() - before + sql.size()});
    return {};
}

void Pipeline::add_plain(Step step, const char* sql) { items_.push_back({.step = step, .text = sql}); }

void Pipeline::add_sync() { items_.push_back({.step = Step::sync}); }

void Pipeline::add_evictions() {
    if (!items_.empty()) return;
    cache_.trim();
    if (!cache_.has_dropped()) return;
    for (std::string& name : cache_.take_dropped()) {
        // libpq 15 cannot send the protocol's Close; the name is one of our own making.
        texts_.emplace_back("DEALLOCATE ").append(name);
        add_plain(Step::housekeeping, texts_.back().c_str());
    }
    add_sync();
}

void Pipeline::move_last_to(std::size_t index) {
    SEMEL_ASSERT(index < items_.size());
    std::rotate(items_.begin() + static_cast<std::ptrdiff_t>(index), items_.end() - 1, items_.end());
}

void Pipeline::clear() noexcept {
    items_.clear();
    texts_.clear();
    arena_.clear();
}

Wait Pipeline::exchange(Deadline deadline, const OnAnswer& on_answer) {
    commit_sent_ = false;
    warnings_before_ = wire_.warnings();
    ++round_trips_;
    Wait wait = send_all(deadline);
    // If the connection broke while sending, the server may have said why before it went.
    if (wait == Wait::ready || (wait == Wait::lost && PQstatus(wire_.connection()) != CONNECTION_OK)) {
        const Wait received = receive_all(deadline, on_answer);
        wait = wait == Wait::ready ? received : wait;
    }
    clear();
    return wait;
}

Wait Pipeline::send_all(Deadline deadline) {
    constexpr std::size_t unsent_max = std::size_t{256} << 10U;  // A few socket buffers.
    std::size_t unsent = 0;
    for (Item& item : items_) {
        if (!send(item)) return Wait::lost;
        unsent += item.bytes;
        if (unsent > unsent_max) {
            if (const Wait wait = wire_.drain_output(deadline); wait != Wait::ready) return wait;
            unsent = 0;
        }
    }
    return wire_.send_sync() ? Wait::ready : Wait::lost;
}

bool Pipeline::send(Item& item) {
    if (item.step == Step::sync) return wire_.send_sync();
    // From here on bytes of it may be on their way, whatever libpq answers.
    if (item.step == Step::commit) commit_sent_ = true;
    if (item.entry == nullptr) return wire_.send(item.text, {});
    StatementCache::Entry& entry = *item.entry;
    const Arguments arguments = arena_.arguments(item.parameters);
    if (!names_) return wire_.send(entry.text.c_str(), arguments);
    item.named = true;
    if (entry.state == StatementCache::State::unprepared) {
        cache_.start_preparing(entry);
        item.parse_sent = true;
        if (!wire_.send_prepare(entry.name.c_str(), entry.text.c_str())) return false;
    }
    const bool binary = entry.answers == StatementCache::Answers::binary;
    return wire_.send_prepared(entry.name.c_str(), arguments, binary ? Format::binary : Format::text);
}

Wait Pipeline::receive_all(Deadline deadline, const OnAnswer& on_answer) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const Item& item = items_[i];
        // All notices of the earlier steps have been read by now: their answers are complete, and
        // the next step's answer starts with messages that stop libpq's parser.
        if (i + 1 == items_.size()) warnings_before_ = wire_.warnings();
        Wait wait = Wait::ready;
        if (item.parse_sent) wait = receive_parse(item, deadline, on_answer);
        if (wait == Wait::ready) wait = receive(item, deadline, on_answer);
        if (wait != Wait::ready) return wait;
    }
    const Item last{.step = Step::sync};
    return receive(last, deadline, on_answer);
}

Wait Pipeline::receive_parse(const Item& item, Deadline deadline, const OnAnswer& on_answer) {
    StatementCache::Entry& entry = *item.entry;
    for (;;) {
        if (const Wait wait = wire_.await(deadline); wait == Wait::deadline)
            return wait;
        else if (wait == Wait::lost) {
            if (const ResultHandle words = wire_.take()) on_answer(item, words.get());
            return wait;
        }
        const ResultHandle result = wire_.take();
        if (!result) break;
        // A Parse that was skipped, because something before it failed, left nothing behind; and its name may have been
        // given up with all others since.
        const bool known = succeeded(result.get()) && !entry.name.empty();
        entry.state = known ? StatementCache::State::prepared : StatementCache::State::unprepared;
        if (!succeeded(result.get())) on_answer(item, result.get());
    }
    return Wait::ready;
}

void Pipeline::learn_form(const Item& item, const PGresult* result) {
    using Answers = StatementCache::Answers;
    if (!names_ || item.entry == nullptr || item.entry->answers != Answers::unknown) return;
    if (PQresultStatus(result) != PGRES_TUPLES_OK) return;
    const bool binary = keeps_its_columns(item.entry->text) && readable_in_binary(result);
    item.entry->answers = binary ? Answers::binary : Answers::text;
}

Wait Pipeline::receive(const Item& item, Deadline deadline, const OnAnswer& on_answer) {
    int nulls = 0;
    for (;;) {
        const Wait wait = wire_.await(deadline);
        if (wait == Wait::deadline) return wait;
        const ResultHandle result = wire_.take();
        if (result && PQresultStatus(result.get()) != PGRES_PIPELINE_SYNC) on_answer(item, result.get());
        if (wait == Wait::lost) return wait;
        if (item.step == Step::sync) {
            if (!result && PQstatus(wire_.connection()) == CONNECTION_OK && nulls++ == 0) continue;
            if (!result) return Wait::lost;
            return PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC ? Wait::ready : Wait::lost;
        }
        if (!result) return Wait::ready;
        if (item.step == Step::awaited) learn_form(item, result.get());
        // The null behind a whole answer is there already, so there is nothing to wait for; a second answer cannot be.
        if (succeeded(result.get())) return wire_.take() == nullptr ? Wait::ready : Wait::lost;
        const ExecStatusType status = PQresultStatus(result.get());
        // COPY has no place in a pipeline; the conversation cannot go on after it.
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) return Wait::lost;
    }
}

}  // namespace semel::postgres
