#include "apps/semel/report.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>

namespace semel::app {

ExitCode report(std::string_view verb, const Error& error, bool json) {
    const ExitCode code = exit_code(error.fault);
    if (json) {
        nlohmann::ordered_json body{{"error",
                                     {{"fault", name(error.fault)},
                                      {"message", error.message},
                                      {"native", error.native},
                                      {"code", error.cause.code},
                                      {"timeout", name(error.cause.timeout)},
                                      {"stop", name(error.cause.stop)},
                                      {"attempts", error.cause.attempts},
                                      {"hint", error.cause.hint}}},
                                    {"exitCode", static_cast<int>(code)}};
        // Server texts may be in any encoding; a broken character must not lose the report.
        std::puts(body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
        return code;
    }
    std::string text = "semel ";
    text.append(verb).append(": ").append(error.message).push_back('\n');
    if (!error.native.empty()) text.append("  it said: ").append(error.native).push_back('\n');
    if (!error.cause.code.empty()) text.append("  code: ").append(error.cause.code).push_back('\n');
    if (error.cause.timeout != Timeout::none)
        text.append("  timeout: ").append(name(error.cause.timeout)).push_back('\n');
    if (error.cause.attempts > 1)
        text.append("  attempts: ")
            .append(std::to_string(error.cause.attempts))
            .append(", stopped by: ")
            .append(name(error.cause.stop))
            .push_back('\n');
    if (!error.cause.hint.empty()) text.append("  what to do: ").append(error.cause.hint).push_back('\n');
    std::fputs(text.c_str(), stderr);
    return code;
}

}  // namespace semel::app
