// The suite of sources on a real broker.

#include "tests/conformance/source_suite.hpp"
#include "tests/kafka/source_target.hpp"

namespace semel::conformance {
namespace {

class RealSourceTarget final : public KafkaSourceTarget {
public:
    Status prepare() override {
        real_ = SEMEL_TRY(kafka::RealCluster::shared());
        topic_ = SEMEL_TRY(real_->fresh_topic(4));
        return {};
    }
    std::optional<Status> crash_and_restart() override { return real_->crash_and_restart(); }
    /// Its last words, to the group and about its positions, reach nobody.
    bool kill(std::unique_ptr<Source>& source) override {
        real_->be_away(true);
        source.reset();
        real_->be_away(false);
        return true;
    }
    bool cut_connections() override {
        real_->cut_connections();
        return true;
    }
    /// Positions and the place in the group are not the connection's.
    [[nodiscard]] bool tags_outlive_connections() const override { return true; }

private:
    kafka::Cluster& cluster() override { return *real_; }
    [[nodiscard]] Duration patience(const SourceSettings& settings) const override {
        return std::min<Duration>(settings.patience, std::chrono::seconds(6));
    }
    kafka::RealCluster* real_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Kafka, SourceConformance,
                         ::testing::Values(SourceCase{"broker", [] { return std::make_unique<RealSourceTarget>(); }}),
                         source_name);

}  // namespace
}  // namespace semel::conformance
