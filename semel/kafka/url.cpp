#include "semel/kafka/url.hpp"

#include "semel/base/server_url.hpp"
#include "semel/base/url_settings.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace semel::kafka {
namespace {

constexpr std::array<std::string_view, 1> url_schemes{"kafka"};
constexpr ServerUrlForm url_form{
    .name = "Kafka URL", .schemes = url_schemes, .example = "kafka://host:port,host:port/topic?name=value"};
constexpr std::string_view settings_of_connection =
    "settings of TLS and SASL by librdkafka's names (none that decides about guarantees)";

struct Address {
    Connection connection{};
    std::string path{};
    std::multimap<std::string, std::string> settings{};  ///< Those that are ours.
};

tl::unexpected<Error> bad_url(std::string message) { return fail(wrong_url(url_form, std::move(message))); }

Result<Address> parse(std::string_view text) {
    if (text.find('#') != std::string_view::npos)
        return bad_url("the Kafka URL has a fragment, which means nothing here");
    ServerUrl url = SEMEL_TRY(parse_server_url(text, url_form));
    Address address{.path = std::move(url.path)};
    Connection& connection = address.connection;
    for (const UrlServer& one : url.servers)
        connection.brokers.append(connection.brokers.empty() ? "" : ",").append(one.text());
    if (url.user) {
        connection.settings.push_back({"sasl.username", *std::move(url.user)});
        connection.settings.push_back({"sasl.password", url.password.value_or("")});
    }
    for (auto& [name, value] : url.settings) {
        if (may_be_set(name))
            connection.settings.push_back({name, std::move(value)});
        else
            address.settings.emplace(name, std::move(value));
    }
    return address;
}

/// With commas between them; an empty name between two is one that `check_topic` refuses.
std::vector<std::string> topics_of(std::string_view text) {
    std::vector<std::string> topics;
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        topics.emplace_back(one);
    }
    return topics;
}

}  // namespace

Result<KafkaSinkOptions> sink_options(std::string_view url) {
    Address address = SEMEL_TRY(parse(url));
    KafkaSinkOptions options;
    options.topic = std::move(address.path);
    SEMEL_TRY(check_topic(options.topic));
    UrlSettings known;
    known.choice<Mode>("mode", {{"binary", Mode::binary}, {"structured", Mode::structured}}, options.mode);
    known.time("deadline", options.deadline).number("max_in_flight", options.max_in_flight);
    known.text("source", options.event.source);
    SEMEL_TRY(known.read(address.settings, url_form.name, settings_of_connection));
    options.connection = std::move(address.connection);
    return options;
}

Result<KafkaSourceOptions> source_options(std::string_view url) {
    Address address = SEMEL_TRY(parse(url));
    KafkaSourceOptions options;
    options.topics = topics_of(address.path);
    if (options.topics.empty()) return bad_url("the Kafka URL names no topic");
    for (const std::string& topic : options.topics) SEMEL_TRY(check_topic(topic));
    UrlSettings known;
    known.text("group", options.group).time("patience", options.patience);
    known.time("commit_interval", options.commit_interval);
    SEMEL_TRY(known.read(address.settings, url_form.name, settings_of_connection));
    if (options.group.empty()) return bad_url("a source needs a group: add ?group=name");
    options.connection = std::move(address.connection);
    return options;
}

}  // namespace semel::kafka
