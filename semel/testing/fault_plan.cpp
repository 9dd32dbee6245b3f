#include "semel/testing/fault_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace semel::testing {

std::string_view name(Step step) noexcept {
    switch (step) {
        case Step::connect: return "connect";
        case Step::begin: return "begin";
        case Step::post: return "post";
        case Step::look: return "look";
        case Step::execute: return "execute";
        case Step::flush: return "flush";
        case Step::script: return "script";
        case Step::commit: return "commit";
        case Step::rollback: return "rollback";
        case Step::resolve: return "resolve";
        case Step::reset: return "reset";
    }
    return "unknown";
}

void FaultPlan::fail_step(std::uint64_t n, StepFailure failure) {
    const std::lock_guard guard(mutex_);
    by_number_.insert_or_assign(n, std::move(failure));
}

void FaultPlan::fail_nth(Step step, std::uint64_t n, StepFailure failure) {
    const std::lock_guard guard(mutex_);
    by_kind_.insert_or_assign({step, n}, std::move(failure));
}

void FaultPlan::fail_every(Step step, StepFailure failure) {
    const std::lock_guard guard(mutex_);
    every_.insert_or_assign(step, std::move(failure));
}

void FaultPlan::restart() {
    const std::lock_guard guard(mutex_);
    history_.clear();
    by_number_.clear();
    by_kind_.clear();
    every_.clear();
    failures_ = 0;
}

std::uint64_t FaultPlan::steps() const {
    const std::lock_guard guard(mutex_);
    return history_.size();
}

std::uint64_t FaultPlan::steps(Step step) const {
    const std::lock_guard guard(mutex_);
    return static_cast<std::uint64_t>(std::count(history_.begin(), history_.end(), step));
}

std::vector<Step> FaultPlan::history() const {
    const std::lock_guard guard(mutex_);
    return history_;
}

std::uint64_t FaultPlan::failures() const {
    const std::lock_guard guard(mutex_);
    return failures_;
}

std::optional<StepFailure> FaultPlan::take(Step step) {
    const std::lock_guard guard(mutex_);
    history_.push_back(step);
    const std::uint64_t number = history_.size();
    const auto of_kind = static_cast<std::uint64_t>(std::count(history_.begin(), history_.end(), step));

    std::optional<StepFailure> failure;
    if (const auto found = by_number_.find(number); found != by_number_.end()) {
        failure = found->second;
    } else if (const auto nth = by_kind_.find({step, of_kind}); nth != by_kind_.end()) {
        failure = nth->second;
    } else if (const auto always = every_.find(step); always != every_.end()) {
        failure = always->second;
    }
    if (!failure) return std::nullopt;
    ++failures_;
    if (failure->error.message.empty()) {
        failure->error.message = std::string(name(step)) + ": failed on purpose, step " + std::to_string(number);
        failure->error.message +=
            failure->when == StepFailure::When::before ? ", before its effect" : ", after its effect";
    }
    return failure;
}

}  // namespace semel::testing
