// The suite of sinks on a mail server over loopback.

#include "semel/base/base64.hpp"
#include "semel/base/percent.hpp"
#include "semel/smtp/sink.hpp"
#include "tests/conformance/sink_proxy.hpp"
#include "tests/conformance/sink_suite.hpp"
#include "tests/smtp/mail_server.hpp"

namespace semel::conformance {
namespace {

std::string text_of_base64(const std::string& text) {
    std::string plain;
    const auto bytes = parse_base64(text);
    for (const std::byte one : *bytes) plain += static_cast<char>(one);
    return plain;
}

class MailTarget final : public SinkTarget {
public:
    Status prepare() override { return {}; }
    Result<std::unique_ptr<Sink>> make_sink(const SinkSettings& settings) override {
        auto options = SEMEL_TRY(
            smtp::sink_options("smtp://127.0.0.1:" + std::to_string(proxy_.port()) + "?tls=none&from=a@b.c&to=d@e.f"));
        options.letterhead.event.source = event_source;
        options.letterhead.mode = settings.structured ? smtp::Mode::structured : smtp::Mode::binary;
        return SEMEL_TRY(smtp::SmtpSink::open(std::move(options)));
    }
    Result<std::vector<Arrived>> arrived() override {
        std::vector<Arrived> all;
        for (const smtp::Mail& one : server_.taken()) all.push_back(read(one));
        return all;
    }
    bool poison(Message& message) override {
        message.type = "poison";
        return true;
    }
    bool be_away(bool away) override {
        proxy_.be_away(away);
        return true;
    }
    bool be_mute(bool mute) override {
        proxy_.be_mute(mute);
        return true;
    }

private:
    [[nodiscard]] static Arrived read(const smtp::Mail& mail) {
        const std::string body = text_of_base64(mail.body());
        if (mail.field("Content-Type").starts_with("application/cloudevents+json")) return arrived_structured(body);
        Arrived one{.attributes = {{"datacontenttype", mail.field("content-type")}}, .payload = body};
        for (const char* name : {"specversion", "id", "source", "type", "subject", "time", "tenant", "aggregateversion",
                                 "traceparent", "tracestate"})
            if (std::string value = mail.field("ce-" + std::string(name)); !value.empty())
                one.attributes[name] = percent_decoded_where_it_is(value);
        return one;
    }
    smtp::MailServer server_{[](std::string_view line, const smtp::Mail& mail) -> std::optional<std::string> {
        const bool refused =
            line == "." && (mail.field("ce-type") == "poison" || mail.field("Subject").starts_with("poison"));
        return refused ? std::optional<std::string>("554 not this one") : std::nullopt;
    }};
    SinkProxy proxy_{server_.port()};
};

INSTANTIATE_TEST_SUITE_P(Mail, SinkConformance,
                         ::testing::Values(SinkCase{"smtp", [] { return std::make_unique<MailTarget>(); }}), case_name);

}  // namespace
}  // namespace semel::conformance
