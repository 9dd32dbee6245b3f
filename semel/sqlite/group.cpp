#include "semel/sqlite/group.hpp"

#include "semel/base/assert.hpp"
#include "semel/sqlite/member.hpp"

#include <utility>

namespace semel::sqlite {

void Group::open(Instant now) noexcept {
    SEMEL_ASSERT(!open_ && joined_.empty());
    open_ = true;
    opened_ = now;
}

bool Group::admits(const Member& member, Instant now) const noexcept {
    if (joined_.empty()) return true;
    const bool someone_alone = alone_left_ > 0 || member.alone || joined_.front()->alone;
    return !someone_alone && joined_.size() < members_max_ && now - opened_ < time_max_;
}

void Group::join(Member& member) {
    SEMEL_ASSERT(open_);
    joined_.push_back(&member);
}

std::vector<Member*> Group::close() noexcept {
    open_ = false;
    if (alone_left_ > 0 && !joined_.empty()) --alone_left_;
    return std::exchange(joined_, {});
}

}  // namespace semel::sqlite
