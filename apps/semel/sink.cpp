#include "apps/semel/sink.hpp"

#include "semel/webhook/sink.hpp"

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

Error not_supported(const std::string& scheme) {
    Error error;
    error.fault = Fault::rejected;
    error.message = scheme.empty() ? "--to is no URL" : "this build cannot relay to " + scheme + "://";
    error.cause.hint = "it can relay to https://… (and to http://… with --allow-private)";
    return error;
}

}  // namespace

Result<std::unique_ptr<Sink>> make_sink(const RelayArguments& arguments) {
    const std::size_t end = arguments.to.find("://");
    const std::string scheme = end == std::string::npos ? std::string() : arguments.to.substr(0, end);
    if (scheme != "https" && scheme != "http") return fail(not_supported(scheme));
    webhook::SinkOptions options;
    options.url = arguments.to;
    options.event.source = arguments.source;
    options.mode = arguments.structured ? webhook::Mode::structured : webhook::Mode::binary;
    options.secrets = SEMEL_TRY(read_secrets(arguments.secret_file));
    options.allow_private = arguments.allow_private;
    options.parallel = arguments.parallel;
    auto sink = webhook::WebhookSink::create(std::move(options));
    if (sink) return std::unique_ptr<Sink>(*std::move(sink));
    Error error = std::move(sink).error();
    if (!arguments.allow_private && !error.cause.hint.empty()) error.cause.hint += " (--allow-private)";
    return fail(std::move(error));
}

}  // namespace semel::app
