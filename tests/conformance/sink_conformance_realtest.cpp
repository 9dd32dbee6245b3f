// The suite of sinks on the broker in memory, alone and behind a check, and on webhooks over loopback.

#include "semel/base/percent.hpp"
#include "semel/sink/checked_sink.hpp"
#include "semel/testing/scripted_sink.hpp"
#include "semel/webhook/sink.hpp"
#include "tests/conformance/sink_proxy.hpp"
#include "tests/conformance/sink_suite.hpp"
#include "tests/webhook/receiver_realtest.hpp"

namespace semel::conformance {
namespace {

using testing::ScriptedSink;

/// The scripted sink takes messages, not CloudEvents: this makes them, as a sink of a broker does.
class ScriptedTarget : public SinkTarget {
public:
    Status prepare() override { return {}; }
    Result<std::unique_ptr<Sink>> make_sink(const SinkSettings&) override {
        class Borrowed final : public Sink {
        public:
            explicit Borrowed(ScriptedSink& sink) : sink_(&sink) {}
            std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override {
                return sink_->publish(messages, deadline);
            }

        private:
            ScriptedSink* sink_;
        };
        sink_.play([this](const Message& one) {
            if (away_) return ScriptedSink::Answer::away;
            if (mute_) return ScriptedSink::Answer::lose_answer;
            if (one.type == "poison" || !cloud_event_attributes(one, {.source = event_source}))
                return ScriptedSink::Answer::refuse;
            return ScriptedSink::Answer::take;
        });
        return std::make_unique<Borrowed>(sink_);
    }
    Result<std::vector<Arrived>> arrived() override {
        std::vector<Arrived> all;
        for (const Message& one : sink_.taken()) {
            Arrived arrived{.attributes = {}, .payload = one.payload};
            for (const auto& [name, value] : SEMEL_TRY(cloud_event_attributes(one, {.source = event_source})))
                arrived.attributes[name] = value;
            all.push_back(std::move(arrived));
        }
        return all;
    }
    bool poison(Message& message) override {
        message.type = "poison";
        return true;
    }
    bool be_away(bool away) override {
        away_ = away;
        return true;
    }
    bool be_mute(bool mute) override {
        mute_ = mute;
        return true;
    }

private:
    ScriptedSink sink_;
    std::atomic<bool> away_ = false;
    std::atomic<bool> mute_ = false;
};

/// Nothing passes that is poison, and everything else does: the sink behind it is never asked about the former.
class CheckedTarget final : public ScriptedTarget {
public:
    Result<std::unique_ptr<Sink>> make_sink(const SinkSettings& settings) override {
        return std::make_unique<CheckedSink>(SEMEL_TRY(ScriptedTarget::make_sink(settings)),
                                             [](const Message& one) -> Status {
                                                 if (one.type != "poison") return {};
                                                 return fail(Fault::broken, "it is poison");
                                             });
    }
};

class WebhookTarget final : public SinkTarget {
public:
    Status prepare() override { return {}; }
    Result<std::unique_ptr<Sink>> make_sink(const SinkSettings& settings) override {
        webhook::SinkOptions options;
        options.url = "http://127.0.0.1:" + std::to_string(proxy_.port()) + "/in";
        options.allow_private = true;
        options.event.source = event_source;
        options.mode = settings.structured ? webhook::Mode::structured : webhook::Mode::binary;
        options.parallel = std::min<std::size_t>(settings.max_in_flight, 16);
        return SEMEL_TRY(webhook::WebhookSink::create(std::move(options)));
    }
    Result<std::vector<Arrived>> arrived() override {
        std::vector<Arrived> all;
        for (const webhook::Received& one : receiver_.requests()) {
            Arrived arrived = read(one);
            if (arrived.attributes["type"] != "poison") all.push_back(std::move(arrived));
        }
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
    [[nodiscard]] static Arrived read(const webhook::Received& request) {
        if (request.field("content-type") == "application/cloudevents+json") return arrived_structured(request.body);
        std::map<std::string, std::string> headers{{"content-type", request.field("content-type")}};
        for (const char* name : {"specversion", "id", "source", "type", "subject", "time", "tenant", "aggregateversion",
                                 "traceparent", "tracestate"}) {
            const std::string field = "ce-" + std::string(name);
            if (const std::string value = request.field(field); !value.empty())
                headers[field] = percent_decoded_where_it_is(value);
        }
        return arrived_binary(headers, "ce-", request.body);
    }

    webhook::Receiver receiver_{
        [](const webhook::Received& request, const std::stop_token&) -> std::optional<std::string> {
            return webhook::plain(request.field("ce-type") == "poison" ? "400 Bad Request" : "204 No Content");
        }};
    SinkProxy proxy_{receiver_.port()};
};

INSTANTIATE_TEST_SUITE_P(Sinks, SinkConformance,
                         ::testing::Values(SinkCase{"scripted", [] { return std::make_unique<ScriptedTarget>(); }},
                                           SinkCase{"checked", [] { return std::make_unique<CheckedTarget>(); }},
                                           SinkCase{"webhook", [] { return std::make_unique<WebhookTarget>(); }}),
                         case_name);

}  // namespace
}  // namespace semel::conformance
