#include "semel/command/accept.hpp"
#include "tests/simulation/commanding.hpp"
#include "tests/simulation/roles.hpp"
#include "tests/simulation/shop.hpp"
#include "tests/simulation/world.hpp"

#include <algorithm>

namespace semel::simulation {
namespace {

constexpr std::size_t intents_max = 24;  // Few, so that they meet.

/// Sends one intent after the other, repeats its own and those of others, changes its mind, and loses patience.
class Client {
public:
    explicit Client(Process& process) : process_(&process), commanding_(process) {}

    void live() {
        while (goes_on(*process_)) {
            think();
            if (!goes_on(*process_)) return;
            if (process_->world().settling())
                ask_again();
            else
                ask();
        }
    }

private:
    std::vector<Intent>& intents() { return process_->world().ledger().intents(); }
    Random& random() { return process_->random(); }

    void think() {
        if (process_->world().settling()) {
            constexpr Duration pause = std::chrono::seconds(20);
            const bool open = std::ranges::any_of(intents(), &Intent::open);
            return process_->pause(pause * (open ? 1 : 60));
        }
        // From a millisecond to a second, to two minutes or to three hours, as the run has it; now and then a night.
        Duration pause = std::chrono::milliseconds(1);
        for (std::uint64_t i = random().below(process_->world().pace()); i > 0; --i) pause *= 10;
        if (random().below(40) == 0) pause = std::chrono::hours(random().below(20));
        process_->sleep_for(pause);
    }

    std::size_t choose() {
        if (intents().empty() || (intents().size() < intents_max && random().below(3) == 0)) return make();
        // Mostly a recent one.
        const std::size_t count = intents().size();
        const std::size_t back = static_cast<std::size_t>(random().below(random().below(2) == 0 ? 3 : count));
        return count - 1 - std::min(back, count - 1);
    }

    std::size_t make() {
        const std::size_t number = intents().size();
        // Pairs of intents have one key, each of another tenant, and are of one kind.
        constexpr std::array kinds{Kind::blind, Kind::leased, Kind::reading, Kind::accepted, Kind::plain};
        Intent intent;
        intent.number = number;
        intent.kind = kinds.at(number / 2 % kinds.size());
        intent.tenant = number % 2 == 0 ? "north" : "south";
        intent.key = "key-" + std::to_string(number / 2);
        intent.from = static_cast<int>(random().below(account_count));
        intent.to = (intent.from + 1 + static_cast<int>(random().below(account_count - 1))) % account_count;
        intent.amount = static_cast<std::int64_t>(random().below(200)) + 1;
        intents().push_back(std::move(intent));
        return number;
    }

    void ask() {
        const std::size_t number = choose();
        // Seldom, another request under the same key.
        const std::int64_t amount = intents()[number].amount + (random().below(12) == 0 ? 1 : 0);
        Deadline deadline;
        if (random().below(6) == 0)
            deadline = Deadline::after(process_->now(), std::chrono::milliseconds(20 + random().below(2000)));
        send(number, amount, deadline, random().below(3) == 0 ? 2 : 1);
    }

    /// The troubles are over: whoever was left without an answer gets one.
    void ask_again() {
        for (std::size_t number = 0; number < intents().size() && goes_on(*process_); ++number)
            if (intents()[number].open) send(number, intents()[number].amount, {}, 2);
    }

    void send(std::size_t number, std::int64_t amount, Deadline deadline, std::uint32_t attempt) {
        const Intent asked = intents()[number];
        const std::int64_t call = process_->world().next_call();
        const std::string content = std::to_string(amount);
        const std::string operation = asked.atomic() ? "transfer" : "pay";
        const Command command{.identity = Identity::of(asked.tenant, "web", operation, asked.key).value(),
                              .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of(content))},
                              .deadline = deadline,
                              .attempt = attempt};
        // If it dies on the way, someone will have to ask again.
        intents()[number].open = asked.kind != Kind::plain;
        const bool final_refusal = number % 4 < 2;
        process_->world().note(process_->name() + " asks for intent " + std::to_string(number) + ", call " +
                               std::to_string(call));
        Outcome<Answer> outcome = Unknown{{}};
        if (asked.kind == Kind::accepted)
            outcome = accept_one(number, command, payload_of(number, amount));
        else if (asked.kind == Kind::plain)
            outcome = transact_plainly(
                {.intent = number, .call = call, .from = asked.from, .to = asked.to, .amount = amount});
        else if (asked.kind == Kind::leased)
            outcome = commanding_.leased->execute(command, bytes_of(payload_of(number, amount)));
        else
            outcome = execute(asked, command,
                              {.intent = number,
                               .call = call,
                               .from = asked.from,
                               .to = asked.to,
                               .amount = amount,
                               .final_refusal = final_refusal});
        if (!process_->alive()) return;
        process_->world().note(process_->name() + " hears of call " + std::to_string(call) + ": " + told(outcome));
        const bool will_be = intents()[number].accepted && !outcome.unknown();
        if (certain(outcome) || asked.kind == Kind::plain || will_be) intents()[number].open = false;
        process_->world().ledger().answered(number, call, amount, final_refusal, outcome);
    }

    Outcome<Answer> execute(const Intent& asked, const Command& command, const Transfer& transfer) {
        CommandOptions options;
        options.retention = Ledger::record_kept;
        if (random().below(2) == 0) options.in_progress = InProgress::wait;
        const bool reads = asked.kind == Kind::reading;
        const bool refuses = random().below(3) == 0;
        return commanding_.executor->execute(command, options, [&transfer, reads, refuses](Work& work) {
            // Something changed its mind while nobody knows what became of the first attempt.
            if (work.attempt.in_doubt && refuses)
                return Result<CommandDecision>(Rejection{.reply = {.status = shop_refused, .body = "not any more"}});
            return reads ? transfer_by_reading(work, transfer) : transfer_blindly(work, transfer);
        });
    }

    /// Without an identity nobody can repeat it: it is done, not done, or nobody knows.
    Outcome<Answer> transact_plainly(const Transfer& transfer) {
        const auto body = [this, &transfer](Transaction& tx) -> Status {
            Outbox outbox(commanding_.executor->append_statements(), "north", *process_, process_->random());
            write_plainly(tx, outbox, transfer);
            return {};
        };
        Outcome<> outcome = transact(*commanding_.database, body);
        if (outcome.unknown()) return Unknown{std::move(outcome).error()};
        if (outcome.not_committed()) return NotCommitted{std::move(outcome).error()};
        return Committed<Answer>{{{.status = shop_created}, Standing::executed}};
    }

    Outcome<Answer> accept_one(std::size_t number, const Command& command, const std::string& payload) {
        auto accepted = accept(*commanding_.leased, command, bytes_of(payload));
        if (accepted.unknown()) return Unknown{std::move(accepted).error()};
        if (accepted.not_committed()) return NotCommitted{std::move(accepted).error()};
        process_->world().scheduler().ring(Bell::work);
        // Whoever was told so need not ask again.
        if (process_->alive()) intents()[number].accepted = true;
        if (!finished(accepted.value().state)) return NotCommitted{refusal(ClaimVerdict::in_progress)};
        return Committed<Answer>{{accepted.value().reply, Standing::replayed}};
    }

    static bool certain(const Outcome<Answer>& outcome) {
        if (outcome.committed()) return true;
        if (outcome.unknown()) return false;
        const auto verdict = verdict_of(outcome.error());
        if (verdict) return *verdict == ClaimVerdict::mismatch || *verdict == ClaimVerdict::expired;
        // The business itself said no, whoever asks.
        return outcome.error().fault == Fault::conflict;
    }

    static std::string told(const Outcome<Answer>& outcome) {
        if (outcome.committed()) return std::to_string(outcome.value().reply.status) + " " + outcome.value().reply.body;
        return (outcome.unknown() ? "unknown: " : "not committed: ") + outcome.error().message;
    }

    Process* process_;
    Commanding commanding_;
};

}  // namespace

void Idling::rest(bool busy) {
    if (!process_->alive()) return;
    const Duration longest =
        process_->world().settling() ? Duration(std::chrono::seconds(30)) : Duration(std::chrono::hours(4));
    pause_ = busy ? Duration(std::chrono::milliseconds(100)) : std::min(pause_ * 4, longest);
    const auto spread = static_cast<std::int64_t>(process_->random().below(static_cast<std::uint64_t>(pause_.count())));
    process_->world().scheduler().park_idle(process_->now() + pause_ / 2 + Duration(spread), bell_);
}

bool goes_on(Process& process) { return process.alive() && !process.world().over(); }

void live_as_client(Process& process) { Client(process).live(); }

}  // namespace semel::simulation
