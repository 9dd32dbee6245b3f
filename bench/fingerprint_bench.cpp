// What a fingerprint costs beside the least that any reader of JSON pays: simdjson reading the same document, and SHA-256
// over it. The limit is half of that speed.

#include "bench/harness.hpp"
#include "semel/base/digest.hpp"
#include "semel/base/random.hpp"
#include "semel/idempotency/fingerprint.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace semel::bench {
namespace {

/// So many different documents of each kind, that the processor does not learn one of them by heart.
constexpr std::size_t documents = 64;
/// Small documents in one turn, so that the harness itself does not count.
constexpr std::size_t turn_bytes = 64 * 1024;

std::string pick(Random& random, std::initializer_list<std::string_view> words) {
    return std::string(words.begin()[random.below(words.size())]);
}

std::string number(Random& random, std::uint64_t below) { return std::to_string(random.below(below)); }

/// One position of an order, as services write them: names not sorted, short numbers and words, some text.
std::string position(Random& random) {
    std::string text = R"({"sku":"SKU-)" + number(random, 1'000'000) + R"(","quantity":)" + number(random, 20);
    text += R"(,"unitPrice":{"currency":"EUR","amount":)" + number(random, 500) + "." + number(random, 90) + "5}";
    text +=
        R"(,"title":")" + pick(random, {"Fountain pen", "Notebook, lined", "Caf\xc3\xa9 cr\xc3\xa8me", "Ink 30 ml"});
    text += R"(","description":"Ships in two days; \"gift\" wrapping on request.","tags":["office","paper"],)";
    text += R"("discount":null,"taxable":)" + pick(random, {"true", "false"}) + R"(,"weightGrams":)";
    return text + number(random, 5000) + "}";
}

/// An order of about so many bytes.
std::string order(Random& random, std::size_t bytes) {
    std::string text = R"({"orderId":"0190b4c2-7d1e-7a3f-9c55-)" + number(random, 900'000'000'000) + "\",";
    text += R"("customer":{"id":)" + number(random, 100'000'000) + R"(,"email":"someone@example.com","vip":false},)";
    text += R"("placedAt":"2025-03-01T12:34:56.789Z","items":[)";
    do text += position(random) + ",";
    while (text.size() < bytes - 280);
    text.back() = ']';
    return text + R"(,"channel":"web","billingAddress":{"street":"Main Street 1","zip":"01067","city":"Dresden"}})";
}

/// Measurements: many numbers with as many digits as a double has.
std::string measurements(Random& random, std::size_t bytes) {
    std::string text = R"({"unit":"m","series":[)";
    while (text.size() < bytes - 32) text += number(random, 90) + "." + number(random, 1'000'000'000'000'000) + ",";
    text.back() = ']';
    return text + "}";
}

using Maker = std::string (*)(Random&, std::size_t);

class Subject {
public:
    Subject(std::string name, std::size_t bytes, Maker maker) : name_(std::move(name)) {
        SeededRandom random(bytes);
        for (std::size_t i = 0; i < documents; ++i) documents_.emplace_back(maker(random, bytes));
        turn_ = std::max<std::size_t>(1, turn_bytes / bytes);
    }

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] Side yardstick() {
        return side("simdjson and SHA-256", [this](const simdjson::padded_string& document) -> Status {
            simdjson::dom::element root;
            if (parser_.parse(document).get(root) != simdjson::SUCCESS) return fail(Fault::broken, "not read");
            keep(sha256(bytes_of(document)));
            return {};
        });
    }
    [[nodiscard]] Side ours() {
        return side("fingerprint", [this](const simdjson::padded_string& document) -> Status {
            const auto made = fingerprint({.operation = "orders.place",
                                           .path = {},
                                           .query = {},
                                           .media_type = "application/json",
                                           .body = document});
            if (!made) return fail(made.error());
            keep(made->digest);
            return {};
        });
    }
    [[nodiscard]] Side hash_alone() {
        return side("SHA-256 alone", [this](const simdjson::padded_string& document) -> Status {
            keep(sha256(bytes_of(document)));
            return {};
        });
    }

private:
    template <class Work>
    Side side(const std::string& what, Work work) {
        return {.name = name_ + ", " + what, .measure = [this, work](Duration time) {
                    return run_threads(1, time, [this, work](std::size_t, std::uint64_t n) -> Outcome<> {
                        for (std::size_t i = 0; i < turn_; ++i)
                            if (auto done = work(documents_[(n * turn_ + i) % documents]); !done)
                                return NotCommitted{std::move(done).error()};
                        return Committed<void>{};
                    });
                }};
    }
    void keep(const Digest& digest) { kept_ = kept_ ^ digest[0]; }

    std::string name_;
    std::vector<simdjson::padded_string> documents_;
    std::size_t turn_ = 1;
    simdjson::dom::parser parser_;
    volatile std::byte kept_{};
};

Status run(const Settings& settings) {
    nlohmann::json result{{"comparisons", nlohmann::json::array()}, {"series", nlohmann::json::array()}};
    struct Case {
        std::string figure;
        std::unique_ptr<Subject> subject;
    };
    std::vector<Case> cases;
    cases.push_back({"fingerprint_1k", std::make_unique<Subject>("order of 1 KiB", 1024, order)});
    cases.push_back({"fingerprint_64k", std::make_unique<Subject>("order of 64 KiB", 65536, order)});
    cases.push_back({"fingerprint_64k_numbers", std::make_unique<Subject>("numbers, 64 KiB", 65536, measurements)});
    for (const Case& one : cases) {
        Subject& subject = *one.subject;
        const std::vector<Series> all =
            SEMEL_TRY(run_rounds({subject.yardstick(), subject.ours(), subject.hash_alone()}, settings));
        print(all, {"allocations", "client_us"});
        result["comparisons"].push_back(compared(one.figure, all[1], all[0]));
        for (const Series& series : all) result["series"].push_back(series.json());
    }
    if (!write(settings, result)) return fail(Fault::unavailable, "the result is lost");
    return {};
}

}  // namespace
}  // namespace semel::bench

int main(int argc, char** argv) {
    using namespace semel::bench;
    const Settings settings = read_settings(argc, argv, "fingerprints against simdjson and SHA-256");
    const semel::Status done = run(settings);
    if (!done) std::fprintf(stderr, "fingerprint_bench: %s\n", done.error().describe().c_str());
    return done ? 0 : 1;
}
