// The suite of sources on librdkafka's mock, which is there where no broker is. Its groups take seconds to form.

#include "tests/conformance/source_suite.hpp"
#include "tests/kafka/source_target.hpp"

namespace semel::conformance {
namespace {

class MockSourceTarget final : public KafkaSourceTarget {
public:
    Status prepare() override {
        topic_ = SEMEL_TRY(mock_.fresh_topic(4));
        return {};
    }

private:
    kafka::Cluster& cluster() override { return mock_; }
    /// The mock forms no group of members that have less.
    [[nodiscard]] Duration patience(const SourceSettings&) const override { return std::chrono::seconds(6); }
    kafka::MockCluster mock_;
};

INSTANTIATE_TEST_SUITE_P(Kafka, SourceConformance,
                         ::testing::Values(SourceCase{"mock", [] { return std::make_unique<MockSourceTarget>(); }}),
                         source_name);

}  // namespace
}  // namespace semel::conformance
