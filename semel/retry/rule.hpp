#pragma once

#include "semel/base/result.hpp"
#include "semel/retry/phase.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace semel {

/// One row of a classification table: what a native code means, by how far the attempt had come.
/// A table is a constexpr array of these in one file per domain; the reference page and the tests
/// read the same rows that the code decides by.
struct Rule {
    std::string_view code;        ///< Native code, or the start of a class followed by `*`: "40001", "22*".
    std::string_view name;        ///< What the other side calls it.
    Fault connect;                ///< Failed before anything with an effect was sent.
    Fault transaction;            ///< Failed inside an open transaction, which is then aborted.
    Fault commit;                 ///< Failed after COMMIT, or a request that takes effect by itself, was sent.
    bool closes_session = false;  ///< The connection is of no more use.
    std::string_view why;         ///< The reason, as a sentence for people.

    [[nodiscard]] constexpr Fault fault(Phase phase) const noexcept {
        switch (phase) {
            case Phase::connect: return connect;
            case Phase::transaction: return transaction;
            case Phase::commit: return commit;
        }
        return commit;
    }
};

/// Whether another attempt could end differently. An unknown outcome only where it
/// `needs_idempotency` and has it.
[[nodiscard]] constexpr bool retryable(Fault fault) noexcept {
    return fault == Fault::conflict || fault == Fault::unavailable || fault == Fault::throttled ||
           fault == Fault::unknown;
}

/// Whether another attempt might do it twice, unless repeating has no further effect.
[[nodiscard]] constexpr bool needs_idempotency(Fault fault) noexcept { return fault == Fault::unknown; }

/// A failure without any answer, hence without a code: only the phase can tell.
[[nodiscard]] constexpr Fault unanswered(Phase phase) noexcept {
    return phase == Phase::commit ? Fault::unknown : Fault::unavailable;
}

/// The rule of a code: its own row if there is one, else the longest class that it starts with.
/// Null if the table does not know it.
[[nodiscard]] constexpr const Rule* find(std::span<const Rule> rules, std::string_view code) noexcept {
    const Rule* best = nullptr;
    for (const Rule& rule : rules) {
        if (rule.code == code) return &rule;
        if (!rule.code.ends_with('*')) continue;
        const auto start = rule.code.substr(0, rule.code.size() - 1);
        if (code.starts_with(start) && (best == nullptr || rule.code.size() > best->code.size())) best = &rule;
    }
    return best;
}

/// What a failure means. An empty code is no answer at all. A code that the table does not know
/// is not retryable: the other side did answer, and guessing would repeat what nobody understood.
[[nodiscard]] constexpr Fault classify(std::span<const Rule> rules, std::string_view code, Phase phase) noexcept {
    if (code.empty()) return unanswered(phase);
    const Rule* rule = find(rules, code);
    return rule != nullptr ? rule->fault(phase) : Fault::rejected;
}

/// For a static_assert beside each table: every code stands there once, with a name and a reason.
[[nodiscard]] constexpr bool well_formed(std::span<const Rule> rules) noexcept {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (rules[i].code.empty() || rules[i].name.empty() || rules[i].why.empty()) return false;
        for (std::size_t j = i + 1; j < rules.size(); ++j) {
            if (rules[i].code == rules[j].code) return false;
        }
    }
    return true;
}

}  // namespace semel
