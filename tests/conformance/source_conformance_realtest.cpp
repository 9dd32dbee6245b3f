// The suite of sources on the broker in memory.

#include "semel/testing/scripted_source.hpp"
#include "tests/conformance/source_suite.hpp"

namespace semel::conformance {
namespace {

using testing::ScriptedSource;

/// Each consumer has its own broker, which gets whatever is sent; each source of a consumer borrows it.
class ScriptedSourceTarget final : public SourceTarget {
public:
    Status prepare() override { return {}; }
    Status send(std::span<const Message> messages) override {
        for (const Message& one : messages) {
            sent_.push_back(received_from(one, "orders"));
            for (auto& [name, broker] : brokers_) broker.send(sent_.back());
        }
        return {};
    }
    Result<std::unique_ptr<Source>> make_source(const SourceSettings& settings) override {
        const auto [broker, fresh] = brokers_.try_emplace(settings.consumer);
        if (fresh)
            for (const ReceivedMessage& one : sent_) broker->second.send(one);
        return std::make_unique<Borrowed>(broker->second);
    }
    bool cut_connections() override {
        for (auto& [name, broker] : brokers_) broker.disconnect();
        return true;
    }
    [[nodiscard]] bool bounds_prefetch() const override { return false; }

private:
    class Borrowed final : public Source {
    public:
        explicit Borrowed(ScriptedSource& broker) : broker_(&broker) {}
        ~Borrowed() override { broker_->disconnect(); }
        Borrowed(const Borrowed&) = delete;
        Borrowed& operator=(const Borrowed&) = delete;
        Result<std::vector<Delivery>> receive(std::size_t limit, Deadline deadline) override {
            return broker_->receive(limit, deadline);
        }
        Status acknowledge(std::span<const DeliveryTag> tags) override { return broker_->acknowledge(tags); }
        Status give_back(std::span<const DeliveryTag> tags) override { return broker_->give_back(tags); }
        void pause() override { broker_->pause(); }
        void resume() override { broker_->resume(); }
        void wake() override { broker_->wake(); }

    private:
        ScriptedSource* broker_;
    };

    std::map<std::string, ScriptedSource> brokers_;
    std::vector<ReceivedMessage> sent_;
};

INSTANTIATE_TEST_SUITE_P(Sources, SourceConformance,
                         ::testing::Values(SourceCase{"scripted",
                                                      [] { return std::make_unique<ScriptedSourceTarget>(); }}),
                         source_name);

}  // namespace
}  // namespace semel::conformance
