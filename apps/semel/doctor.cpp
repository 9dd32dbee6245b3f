#include "apps/semel/doctor.hpp"

#include "apps/semel/report.hpp"
#include "apps/semel/store.hpp"
#include "semel/db/migrate.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace semel::app {
namespace {

void print_findings(const std::vector<Finding>& findings, bool json) {
    if (json) {
        auto body = nlohmann::ordered_json::array();
        for (const Finding& one : findings) {
            nlohmann::ordered_json entry{{"check", one.check}, {"verdict", name(one.verdict)}, {"what", one.what}};
            if (!one.cause.empty()) entry["cause"] = one.cause;
            if (!one.remedy.empty()) entry["remedy"] = one.remedy;
            body.push_back(std::move(entry));
        }
        std::puts(nlohmann::ordered_json{{"findings", body}}.dump(2).c_str());
        return;
    }
    for (const Finding& one : findings) {
        std::printf("%-6s %-12s %s\n", std::string(name(one.verdict)).c_str(), one.check.c_str(), one.what.c_str());
        if (!one.cause.empty()) std::printf("%20scause:  %s\n", "", one.cause.c_str());
        if (!one.remedy.empty()) std::printf("%20sremedy: %s\n", "", one.remedy.c_str());
    }
}

/// Opening would make the file, and who only looks makes nothing.
Status there_is_a_file(std::string_view address) {
    constexpr std::string_view scheme = "sqlite:";
    if (!address.starts_with(scheme) || std::filesystem::exists(address.substr(scheme.size()))) return {};
    return fail(Fault::rejected, "there is no such file; `semel migrate` makes one");
}

Result<ExitCode> examine(const DoctorArguments& arguments) {
    SEMEL_TRY(there_is_a_file(arguments.database));
    const Driver found = SEMEL_TRY(driver(arguments.database));
    const Finding schema = schema_finding(arguments.database);
    std::vector<Finding> findings = SEMEL_TRY(
        found.dialect == Dialect::postgres ? examine_postgres(found, arguments.database) : examine_sqlite(found));
    findings.insert(findings.begin(), schema);
    print_findings(findings, arguments.json);
    return std::ranges::any_of(findings, [](const Finding& one) { return one.verdict == Verdict::bad; })
               ? ExitCode::finding
               : ExitCode::ok;
}

}  // namespace

std::string_view name(Verdict verdict) noexcept {
    switch (verdict) {
        case Verdict::good: return "ok";
        case Verdict::notice: return "notice";
        case Verdict::bad: return "BAD";
    }
    return "BAD";
}

Finding schema_finding(std::string_view address) {
    Finding finding{.check = "schema"};
    const auto look = [&]() -> Result<SchemaState> {
        const auto opened = SEMEL_TRY(open(address));
        return schema_state(*opened.database, "semel", opened.schema, soon(*opened.database));
    };
    const auto state = look();
    if (!state) {
        finding.verdict = Verdict::bad;
        finding.what = state.error().describe();
        finding.cause = "this program and the schema do not fit";
        finding.remedy = "run a `semel` of the version that migrated this database";
        return finding;
    }
    finding.what = "at step " + std::to_string(state->at) + ", " + std::to_string(state->pending.size()) + " to go";
    if (state->pending.empty()) return finding;
    finding.verdict = Verdict::bad;
    finding.cause = "this program is newer than the schema and refuses to work on it";
    finding.remedy = "run `semel migrate` with the same --db";
    return finding;
}

ExitCode doctor(const DoctorArguments& arguments) { return report("doctor", examine(arguments), arguments.json); }

void add_doctor(CLI::App& app, ExitCode& code) {
    const auto arguments = std::make_shared<DoctorArguments>();
    CLI::App* doctor = app.add_subcommand(
        "doctor", "Examine the store: what Semel promises needs, each finding with its cause and remedy");
    doctor->footer("Changes nothing. Exit code 1 if something is BAD.");
    doctor->add_option("--db", arguments->database, "sqlite:PATH or postgres://user:password@host:port/name")
        ->envname("SEMEL_DB")
        ->required();
    doctor->add_flag("--json", arguments->json, "Answer in JSON");
    doctor->callback([arguments, &code] { code = app::doctor(*arguments); });
}

}  // namespace semel::app
