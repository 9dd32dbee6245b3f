#include "apps/semel/sink.hpp"

#include "semel/open/sink.hpp"
#include "semel/sink/checked_sink.hpp"

#include <fstream>

namespace semel::app {
namespace {

Result<std::vector<webhook::Secret>> read_secrets(const std::string& file) {
    std::vector<webhook::Secret> secrets;
    if (file.empty()) return secrets;
    std::ifstream stream(file);
    if (!stream) return fail(Fault::rejected, "the secrets cannot be read from " + file);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
        if (line.empty() || line.front() == '#') continue;
        auto secret = webhook::Secret::parse(line);
        if (!secret) return fail(std::move(secret).error().within(file + ":" + std::to_string(number)));
        secrets.push_back(*std::move(secret));
    }
    // Whoever names a file means to sign; an empty one must not send unsigned.
    if (secrets.empty()) return fail(Fault::rejected, file + " holds no secret");
    return secrets;
}

/// What breaks its contract goes no further than this.
Result<std::unique_ptr<Sink>> with_contracts(std::unique_ptr<Sink> sink, const RelayArguments& arguments) {
    if (arguments.contracts.empty()) return sink;
    const Contracts contracts = SEMEL_TRY(Contracts::load(arguments.contracts));
    return std::make_unique<CheckedSink>(std::move(sink),
                                         [contracts, unknown = arguments.unknown_types](const Message& one) {
                                             return contracts.check(one.type, one.payload, one.headers, unknown);
                                         });
}

}  // namespace

Result<std::unique_ptr<Sink>> make_sink(const RelayArguments& arguments) {
    SinkOptions options;
    options.source = arguments.source;
    options.structured = arguments.structured;
    options.secrets = SEMEL_TRY(read_secrets(arguments.secret_file));
    options.allow_private = arguments.allow_private;
    options.parallel = arguments.parallel;
    auto sink = open_sink(arguments.to, options);
    if (sink) return with_contracts(*std::move(sink), arguments);
    Error error = std::move(sink).error();
    if (!arguments.allow_private && arguments.to.starts_with("http") && !error.cause.hint.empty())
        error.cause.hint += " (--allow-private)";
    return fail(std::move(error));
}

}  // namespace semel::app
