// A process is killed at every failpoint of leased and asynchronous commands. Its client repeats the request, the
// sweeper comes by: money moved at most once, and the command is finished or listed.

#include "semel/testing/process.hpp"
#include "tests/leased/fixture.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace semel::leased {
namespace {

using conformance::Target;

/// What the child is to do, by environment.
constexpr const char* child_address = "SEMEL_LEASED_TEST_ADDRESS";
constexpr const char* child_scene = "SEMEL_LEASED_TEST_SCENE";
constexpr const char* child_effects = "SEMEL_LEASED_TEST_EFFECTS";
constexpr const char* child_capability = "SEMEL_LEASED_TEST_CAPABILITY";

/// The other side as a file, which outlives whoever is killed: one line for each time money was moved.
class BankFile {
public:
    BankFile(std::filesystem::path path, Capability capability) : path_(std::move(path)), capability_(capability) {}

    [[nodiscard]] Integration integration(bool away, bool unheard) const {
        return {.name = "bank",
                .capability = capability_,
                .perform = [*this, away, unheard](const CallRequest& request, Deadline) -> Result<CallResponse> {
                    if (away) return fail(Fault::unavailable, "away");
                    const bool known = effects(request.external_request_id) != 0;
                    if (capability_ != Capability::takes_key || !known)
                        std::ofstream(path_, std::ios::app) << request.external_request_id << '\n' << std::flush;
                    if (unheard) return fail(Fault::unknown, "no answer");
                    return CallResponse{.status = 201, .body = "moved"};
                },
                .query = [*this](const CallQuestion& question, Deadline) -> Result<std::optional<CallResponse>> {
                    if (effects(question.external_request_id) == 0) return std::nullopt;
                    return CallResponse{.status = 200, .body = "found"};
                }};
    }
    [[nodiscard]] int effects(const std::string& id = {}) const {
        std::ifstream file(path_);
        int lines = 0;
        for (std::string line; std::getline(file, line);)
            if (id.empty() || line == id) ++lines;
        return lines;
    }

private:
    std::filesystem::path path_;
    Capability capability_;
};

/// A step, a call, an end; each scene goes another way.
LeasedHandler playing(const BankFile& bank, const std::string& scene) {
    return [&bank, scene](LeasedWork& work) -> Result<Finish> {
        if (scene == "reject") return Finish(Rejection{.reply = {.status = 409, .body = "no"}});
        if (scene == "broken") return fail(Fault::broken, "a bug");
        const auto note = [](Transaction& tx) -> Result<std::string> {
            tx.post("INSERT INTO note (id) VALUES ('n')");
            return "noted";
        };
        SEMEL_TRY(work.transact("note", note));
        const Integration integration =
            bank.integration(scene == "away" && work.attempt() == 1, scene == "unheard" && work.attempt() == 1);
        const CallResponse response = SEMEL_TRY(work.call("move", integration, "k", "5"));
        return Finish([response](Work& last) -> Result<Reply> {
            last.tx.post("INSERT INTO transfer (id, receipt) VALUES ('k', $1)", response.body);
            last.outbox.append({.aggregate = {.type = "transfer", .id = "k"}, .type = "t", .payload = "{}"});
            return Reply{.status = 201, .body = response.body};
        });
    };
}

LeasedOptions playing_options() {
    LeasedOptions options;
    // A repeat is due at once, so that the child can make it.
    options.backoff = {.base = std::chrono::nanoseconds(1), .cap = std::chrono::nanoseconds(1)};
    return options;
}

Command asked() {
    return {.identity = Identity::of("shop", "web", "transfer", "k").value(),
            .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of("5"))}};
}

void play(LeasedExecutor& leased, const std::string& scene) {
    if (scene == "work") {
        std::ignore = accept(leased, asked(), bytes_of("5"));
        std::ignore = Worker(leased).run_one();
        return;
    }
    if (scene == "sweep") {
        std::ignore = Sweeper(leased).sweep();
        return;
    }
    if (scene == "settle") {
        std::ignore = settle(leased.database(), asked().identity.command_id(), LeasedSettlement::failed,
                             {.status = 500}, {.who = "ann", .reason = "r"}, {});
        return;
    }
    std::ignore = leased.execute(asked(), bytes_of("5"));
    if (scene == "away") {
        std::ignore = system_clock().sleep(system_clock().now() + std::chrono::milliseconds(5), {});
        std::ignore = leased.execute(asked(), bytes_of("5"));
    }
}

/// The child: plays its scene until it is killed at the failpoint that its environment names.
TEST(LeasedCrash, DISABLED_IsTheChild) {
    const std::string scene = std::getenv(child_scene);
    const BankFile bank(std::getenv(child_effects), parse_capability(std::getenv(child_capability)).value());
    auto opened = open(std::getenv(child_address)).value();
    Operations operations;
    ASSERT_TRUE(operations.add("transfer", playing(bank, scene), playing_options()));
    const auto executor = Executor::create(*opened.database).value();
    const auto leased = LeasedExecutor::create(*executor, operations).value();
    play(*leased, scene);
}

/// Every failpoint, and the scene in which a process comes to it.
const std::vector<std::pair<std::string, std::string>> places{
    {"accept.before_store", "work"},   {"accept.after_store", "work"},       {"worker.before_take", "work"},
    {"worker.after_take", "work"},     {"lease.before_claim", "execute"},    {"lease.after_claim", "execute"},
    {"lease.before_run", "execute"},   {"lease.before_step", "execute"},     {"lease.after_step", "execute"},
    {"call.before_intent", "execute"}, {"call.after_intent", "execute"},     {"call.after_perform", "execute"},
    {"call.before_result", "execute"}, {"call.after_result", "execute"},     {"lease.before_finish", "execute"},
    {"lease.after_finish", "execute"}, {"lease.before_rejection", "reject"}, {"lease.before_fail_later", "away"},
    {"lease.before_retake", "away"},   {"lease.before_yield", "unheard"},    {"lease.before_end", "broken"},
    {"sweep.before_take", "sweep"},    {"sweep.after_take", "sweep"},        {"call.before_query", "sweep"},
    {"call.after_query", "sweep"},     {"lease.before_settle", "settle"}};

/// Where a process comes only if the time of its call runs out in a COMMIT: see tests/crash/late_call_pgtest.cpp.
const std::set<std::string> elsewhere{"call.not_begun"};

class LeasedCrash : public LeasedTest {
protected:
    /// Plays a scene in a process of its own that is killed at `place`; without a place it plays to the end.
    void play_in_child(const std::string& scene, const std::string& place, Capability capability) {
        testing::Command command;
        command.argv = {std::filesystem::read_symlink("/proc/self/exe").string(),
                        "--gtest_filter=LeasedCrash.DISABLED_IsTheChild", "--gtest_also_run_disabled_tests",
                        "--gtest_brief=1"};
        command.environment = {std::string(child_address) + "=" + address_, std::string(child_scene) + "=" + scene,
                               std::string(child_effects) + "=" + effects_path().string(),
                               std::string(child_capability) + "=" + std::string(semel::name(capability)),
                               "SEMEL_FAILPOINTS=" + (place.empty() ? std::string() : place + "=kill")};
        const auto ended = testing::run(command, std::chrono::seconds(60));
        ASSERT_TRUE(ended) << ended.error().describe();
        if (place.empty())
            EXPECT_TRUE(ended->exit.success()) << ended->exit.text() << ended->output << ended->error_output;
        else
            EXPECT_EQ(ended->exit.signal, SIGKILL) << place << " was never reached: " << ended->output;
    }

    [[nodiscard]] std::filesystem::path effects_path() const { return effects_directory_.path() / "effects"; }

    void start_anew() {
        run("DELETE FROM transfer; DELETE FROM note");
        run(sqlite() ? "DELETE FROM semel_command_record; DELETE FROM semel_outbox_event"
                     : "DELETE FROM semel.command_record; DELETE FROM semel.outbox_event");
        std::filesystem::remove(effects_path());
    }

    testing::TempDir effects_directory_ = testing::TempDir::make("leased-crash").value();
};

TEST_P(LeasedCrash, AtAnyFailpointLeavesOneEffectAtMostAndAnEnd) {
    for (const auto& [place, scene] : places) {
        for (const Capability capability : {Capability::takes_key, Capability::queryable, Capability::neither}) {
            const bool queries = place.ends_with("_query");
            if (queries && capability != Capability::queryable) continue;
            const std::string where = place + ", " + std::string(semel::name(capability));
            start_anew();
            const BankFile bank(effects_path(), capability);
            if (scene == "sweep") {
                play_in_child("execute", "call.after_perform", capability);
                age(std::chrono::seconds(120));
            }
            if (scene == "settle") play_in_child("broken", "", capability);
            play_in_child(scene, place, capability);

            Process healthy;
            add_process(healthy, playing(bank, scene == "settle" ? "broken" : scene), playing_options());
            std::ignore = healthy.leased->execute(asked(), bytes_of("5"));
            sweep_to_the_end(healthy);
            EXPECT_LE(bank.effects(), 1) << where;
            const CommandState ended = state("k");
            EXPECT_TRUE(finished(ended) || ended == CommandState::needs_reconciliation) << where << ": " << name(ended);
            EXPECT_EQ(transfers_written(), ended == CommandState::succeeded ? 1 : 0) << where;
            EXPECT_EQ(events(), transfers_written()) << where;
            EXPECT_LE(notes(), 1) << where;
            if (ended == CommandState::succeeded) {
                EXPECT_EQ(bank.effects(), 1) << where;
            }
            if (ended == CommandState::needs_reconciliation) {
                EXPECT_EQ(listed().commands.size(), 1U) << where;
                // Only what cannot be decided without one ends before a person.
                EXPECT_TRUE(scene == "broken" || scene == "settle" || capability != Capability::takes_key) << where;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Databases, LeasedCrash, ::testing::Values(Target::sqlite, Target::postgres), target_name);

TEST(LeasedCrashPlaces, AreAllThereAre) {
    std::set<std::string> known = elsewhere;
    for (const auto& [place, scene] : places) known.insert(place);
    std::set<std::string> found;
    const std::regex pattern(R"re(SEMEL_FAILPOINT\("((?:lease|call|sweep|accept|worker)\.[a-z_.]+)"\))re");
    for (const char* folder : {"semel/call", "semel/command"}) {
        for (const auto& entry :
             std::filesystem::directory_iterator(std::filesystem::path(SEMEL_SOURCE_DIR) / folder)) {
            std::stringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            const std::string source = text.str();
            for (std::sregex_iterator match(source.begin(), source.end(), pattern), end; match != end; ++match)
                EXPECT_TRUE(found.insert((*match)[1]).second) << (*match)[1] << " stands in two places";
        }
    }
    EXPECT_EQ(found, known);
}

}  // namespace
}  // namespace semel::leased
