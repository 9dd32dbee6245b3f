#pragma once

#include "apps/semel/exit_code.hpp"
#include "semel/db/session.hpp"
#include "semel/open/open.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace semel::app {

enum class Verdict : std::uint8_t {
    good,
    notice,  ///< It works; someone should know.
    bad,     ///< A promise of Semel's does not hold here until it is mended.
};
[[nodiscard]] std::string_view name(Verdict) noexcept;

/// What one look at the store found.
struct Finding {
    std::string check{};  ///< A word: "locks", "sequence", …
    Verdict verdict = Verdict::good;
    std::string what{};    ///< What is so.
    std::string cause{};   ///< Why it matters; empty if it is good.
    std::string remedy{};  ///< What to do; empty if it is good.
};

struct DoctorArguments {
    std::string database;
    bool json = false;
};

/// Examines a store, changing nothing of it, and tells each finding with its cause and remedy. Exit code 1 if anything is bad.
[[nodiscard]] ExitCode doctor(const DoctorArguments& arguments);
void add_doctor(CLI::App& app, ExitCode& code);

/// Everything there is to look at in one kind of store. An Error: it could not be examined to the end.
[[nodiscard]] Result<std::vector<Finding>> examine_postgres(const Driver& driver, const std::string& address);
[[nodiscard]] Result<std::vector<Finding>> examine_sqlite(const Driver& driver);

/// Of both: whether the schema is the one of this program.
[[nodiscard]] Finding schema_finding(std::string_view address);

}  // namespace semel::app
