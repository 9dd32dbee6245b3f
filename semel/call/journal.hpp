#pragma once

#include "semel/call/call.hpp"
#include "semel/db/catalogue.hpp"
#include "semel/db/transaction.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace semel {

/// The statements of this module in the words of one driver.
struct CallStatements {
    Sql look;
    Sql list;
    Sql intend;
    Sql intend_again;
    Sql confirm;
    Sql fail;
    Sql doubt;
    Sql leave;

    [[nodiscard]] static Result<CallStatements> from(const Catalogue& catalogue);
};

/// The journal of calls to other systems, on the caller's transaction. Whoever writes holds the command's fence in
/// the same transaction. Every write names the attempt it speaks of and fails the transaction if that is not the one
/// that stands there.
class Journal {
public:
    explicit Journal(const CallStatements& statements) noexcept : statements_(&statements) {}

    [[nodiscard]] Result<std::optional<Call>> look(Transaction& tx, std::string_view call_id) const;
    /// All calls of one command, in the order they were first intended.
    [[nodiscard]] Result<std::vector<Call>> list(Transaction& tx, const Digest& command) const;

    /// The intent of the first attempt.
    void intend(Transaction& tx, const CallOwner& owner, const CallSpec& spec, const Integration& integration) const;
    /// Of another attempt of a call that stands at `found`, whose request it keeps.
    void intend_again(Transaction& tx, const CallOwner& owner, const Call& found, const Integration& integration) const;

    void confirm(Transaction& tx, const Call& call, const CallResponse& response) const;
    /// It was not done. `retry_in`: none if it never will be.
    void fail(Transaction& tx, const Call& call, const Error& error, std::optional<Duration> retry_in) const;
    /// It may have been done. `asked`: the other side was asked, or asked again, in vain.
    void doubt(Transaction& tx, const Call& call, std::string_view error, bool asked) const;
    /// The command ends: what is still intended will not be known to anyone.
    void leave(Transaction& tx, const Digest& command) const;

private:
    const CallStatements* statements_;
};

/// What the journal keeps of a text: short, without zero bytes, and UTF-8 whatever the other side wrote.
[[nodiscard]] std::string kept_text(std::string_view text);

}  // namespace semel
