#pragma once

#include "tests/orders/fixture.hpp"
#include "tests/orders/model_service.hpp"
#include "tests/orders/model_walk.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace orders::testing {

/// Takes one walk after the other to the service and to the model, and holds them against each other: every answer at
/// once, all that is stored now and then and at the end. Each walk is a tenant of its own.
class OrdersModelTest : public OrdersTest {
protected:
    /// These; where SEMEL_SEED is set, that one instead.
    [[nodiscard]] static std::vector<std::uint64_t> fixed_seeds(const std::vector<std::uint64_t>& seeds);
    /// One that nobody has seen, or many where SEMEL_SOAK is set; the same about SEMEL_SEED.
    [[nodiscard]] static std::vector<std::uint64_t> new_seeds();
    /// So many commands. What fails says how to take the same walk again.
    void walk(std::uint64_t seed, int steps);

    /// What befalls the service while it is at a command, one in `trouble_in`; none: nothing does. What it returns is
    /// waited for when the command was answered, or was not.
    using Trouble = std::function<std::function<void()>(semel::Random&)>;
    Trouble trouble{};
    static constexpr std::uint64_t trouble_in = 8;

    std::set<std::string> events_met;    ///< Types, over all walks.
    std::set<std::string> problems_met;  ///< Codes.
    int troubles = 0;
    int answers_lost = 0;

private:
    /// A command and what became of it.
    struct Sent {
        model::Asked asked;
        HttpRequest request;
        HttpResponse answer;
    };

    void act(const model::Asked& asked, HttpRequest request);
    void expect_as_told(const Sent& sent, const model::Verdict& verdict);
    void learn_ids(const model::Asked& asked, const nlohmann::json& reply);
    void repeat_what_was_done(const Sent& sent);
    void expire(std::size_t quote);
    void write_catalogue();

    void expect_all_as_modelled();
    void expect_things_as_modelled();
    void expect_approvals_as_modelled();
    void expect_audit_as_modelled();
    void expect_events_as_modelled();

    /// The same request until it is answered for good, as a client does.
    [[nodiscard]] HttpResponse persist(HttpRequest request, bool is_in_trouble = false);
    [[nodiscard]] nlohmann::json read(const std::string& target);
    /// All pages of a collection.
    [[nodiscard]] nlohmann::json read_all(const std::string& target);
    [[nodiscard]] std::string next_key() { return "key-" + std::to_string(++keys_); }
    template <class Body>
    void in_database(Body&& body) {
        const auto outcome = semel::transact(database(), std::forward<Body>(body));
        ASSERT_TRUE(outcome.committed()) << outcome.error().describe();
    }

    model::Model model_;
    std::string tenant_;
    semel::SeededRandom misfortune_{0};
    std::vector<Sent> done_;
    std::vector<Sent> refused_;
    int keys_ = 0;
};

}  // namespace orders::testing
