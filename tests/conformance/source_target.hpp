#pragma once

#include "semel/base/result.hpp"
#include "semel/message/message.hpp"
#include "semel/source/source.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>

namespace semel::conformance {

struct SourceSettings {
    std::string consumer = "billing";  ///< Sources of one consumer share its messages.
    std::size_t prefetch = 1'000;      ///< Delivered and not acknowledged, at most, where the broker keeps to that.
    /// How long the broker waits for a consumer that says nothing, where it measures that.
    Duration patience = std::chrono::seconds(30);
};

/// A broker as the suite for sources sees it. What one cannot do it does not override; the suite leaves out what needs it,
/// and says so.
class SourceTarget {
public:
    virtual ~SourceTarget() = default;

    /// Before each test: there is nothing to deliver, and nobody has acknowledged anything. An Error: it is not to be had
    /// here, and why.
    [[nodiscard]] virtual Status prepare() = 0;
    /// Sends events as a sink would, in order.
    [[nodiscard]] virtual Status send(std::span<const Message> messages) = 0;
    [[nodiscard]] virtual Result<std::unique_ptr<Source>> make_source(const SourceSettings& settings) = 0;

    /// Killed as by a failure of the machine, and started again with what it has on disk. Nothing: cannot.
    [[nodiscard]] virtual std::optional<Status> crash_and_restart() { return std::nullopt; }
    /// The process of this source dies without a word; others go on. False: cannot.
    virtual bool kill(std::unique_ptr<Source>&) { return false; }
    /// The connections of all sources break; the broker stays. False: cannot.
    virtual bool cut_connections() { return false; }

    /// Success of `acknowledge` means that the broker has heard; else it may come again though it was acknowledged.
    [[nodiscard]] virtual bool confirms_acknowledgements() const { return true; }
    /// Remembers each acknowledgement; else one counts only when all before it were given.
    [[nodiscard]] virtual bool acknowledges_each() const { return true; }
    /// What was given back comes before later messages of its key that wait at the broker.
    [[nodiscard]] virtual bool gives_back_in_place() const { return true; }
    /// What was delivered stays delivered when the connection breaks, and its tags stay good; else it comes again.
    [[nodiscard]] virtual bool tags_outlive_connections() const { return false; }
    /// Never has more than `prefetch` of a source delivered and not acknowledged.
    [[nodiscard]] virtual bool bounds_prefetch() const { return true; }
};

/// For INSTANTIATE_TEST_SUITE_P.
struct SourceCase {
    const char* name;
    std::function<std::unique_ptr<SourceTarget>()> make;
    friend std::ostream& operator<<(std::ostream& out, const SourceCase& one) { return out << one.name; }
};

}  // namespace semel::conformance
