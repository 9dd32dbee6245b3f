#pragma once

#include "semel/source/source.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace semel::kafka {

/// What a source has delivered of one partition, since it was assigned. Knows which messages are held by the consumer, done
/// with, or to be delivered again, and up to where everything is done with. Decides, and talks to nobody.
class PartitionProgress {
public:
    /// How many messages after the beginning a consumer before us may have begun with: that is how many one holds at most.
    explicit PartitionProgress(std::size_t begun_max) : begun_left_(begun_max) {}

    enum class Arrival : unsigned char {
        fresh,
        begun,    ///< Someone may have begun with it: it was given back, or is one of the first after the assignment.
        ignored,  ///< It is held, or done with: it came again only since something before it was given back.
    };
    /// A message of this offset came from the broker. `end` is where the log ended when it was last looked at: behind that
    /// nobody can have begun with anything.
    [[nodiscard]] Arrival arrived(std::int64_t offset, std::int64_t end);

    /// Done with. The position that can be committed now, if it has moved: everything before it is done with.
    [[nodiscard]] std::optional<std::int64_t> done(std::int64_t offset);
    /// To be delivered again.
    void give_back(std::int64_t offset);

    /// From where to read again, for what was given back and has not come since.
    [[nodiscard]] std::optional<std::int64_t> rewind() const;
    [[nodiscard]] std::size_t outstanding() const noexcept { return entries_.size(); }

private:
    enum class State : unsigned char { held, done, given_back };
    std::map<std::int64_t, State> entries_;  ///< By offset; the first is not done.
    std::int64_t done_below_ = 0;  ///< The position: what comes again from before it was read again by chance.
    std::optional<std::int64_t> begun_below_;
    std::size_t begun_left_;
};

}  // namespace semel::kafka
