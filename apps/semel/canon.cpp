#include "apps/semel/canon.hpp"

#include "apps/semel/report.hpp"
#include "semel/base/canon.hpp"
#include "semel/idempotency/fingerprint.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

namespace semel::app {
namespace {

/// All of standard input, up to the limit and one byte more, by which a document that is too large is seen.
Result<std::string> read_input() {
    std::string text;
    std::array<char, 65536> buffer{};
    while (text.size() <= canonical_json_bytes_max) {
        const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(Fault::unavailable, "standard input cannot be read");
        if (count == 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return fail(Fault::rejected, "the document is larger than " + std::to_string(canonical_json_bytes_max) + " bytes");
}

/// A refused document is what this verb looks for, so it has the exit code of a finding.
ExitCode report_refused(const Error& error, bool json) {
    if (error.fault != Fault::rejected) return report("canon", error, json);
    if (json) {
        const nlohmann::ordered_json body{{"error", {{"fault", name(error.fault)}, {"message", error.message}}},
                                          {"exitCode", static_cast<int>(ExitCode::finding)}};
        std::puts(body.dump(2).c_str());
    } else {
        std::fprintf(stderr, "semel canon: %s\n", error.message.c_str());
    }
    return ExitCode::finding;
}

ExitCode write_failed(bool json) {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "standard output cannot be written";
    return report("canon", error, json);
}

ExitCode print(std::string text, bool json, bool whole_lines) {
    if (whole_lines || ::isatty(STDOUT_FILENO) == 1) text.push_back('\n');
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return written ? ExitCode::ok : write_failed(json);
}

std::vector<NamedValue> named_values(const std::vector<std::string>& arguments) {
    std::vector<NamedValue> values;
    for (const std::string_view argument : arguments) {
        const std::size_t sign = argument.find('=');
        values.push_back({.name = argument.substr(0, sign), .value = argument.substr(sign + 1)});
    }
    return values;
}

ExitCode print_fingerprint(const CanonArguments& arguments, std::string_view body) {
    const auto path = named_values(arguments.path);
    const auto query = named_values(arguments.query);
    const auto made = fingerprint({.operation = arguments.operation,
                                   .path = path,
                                   .query = query,
                                   .media_type = arguments.media_type,
                                   .body = body});
    if (!made) return report_refused(made.error(), arguments.json);
    const std::string digest = hex(made->digest);
    if (!arguments.json) return print(digest, false, true);
    const nlohmann::ordered_json answer{{"version", made->version}, {"fingerprint", digest}};
    return print(answer.dump(2), true, true);
}

ExitCode print_document(const CanonArguments& arguments, std::string_view body) {
    auto canonical = canonical_json(body);
    if (!canonical) return report_refused(canonical.error(), arguments.json);
    const std::string digest = hex(sha256(bytes_of(*canonical)));
    if (arguments.json) {
        const nlohmann::ordered_json answer{{"canonical", *canonical}, {"sha256", digest}};
        return print(answer.dump(2), true, true);
    }
    return arguments.fingerprint ? print(digest, false, true) : print(*std::move(canonical), false, false);
}

}  // namespace

ExitCode canon(const CanonArguments& arguments) {
    const auto body = read_input();
    if (!body) return report_refused(body.error(), arguments.json);
    return arguments.operation.empty() ? print_document(arguments, *body) : print_fingerprint(arguments, *body);
}

}  // namespace semel::app
