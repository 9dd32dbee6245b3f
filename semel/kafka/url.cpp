#include "semel/kafka/url.hpp"

#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>

namespace semel::kafka {
namespace {

constexpr std::string_view scheme = "kafka://";

struct Address {
    Connection connection{};
    std::string path{};
    std::vector<std::pair<std::string, std::string>> parameters{};
};

tl::unexpected<Error> bad_url(std::string message) {
    Error error;
    error.fault = Fault::rejected;
    error.message = "kafka: " + std::move(message);
    error.cause.hint = "write it as kafka://host:port,host:port/topic?name=value";
    return fail(std::move(error));
}

/// The part before the mark, which is taken off together with it; everything if there is none.
std::string_view cut(std::string_view& text, char mark) {
    const auto at = text.find(mark);
    const std::string_view before = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
    return before;
}

Result<std::string> plain(std::string_view encoded) {
    std::string text;
    while (!encoded.empty()) {
        if (encoded.front() != '%') {
            text += encoded.front();
            encoded.remove_prefix(1);
            continue;
        }
        unsigned byte = 0;
        const std::string_view digits = encoded.substr(1, 2);
        const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || failed != std::errc() || end != digits.data() + 2 || byte == 0)
            return bad_url("a percent sign in the address is not followed by two digits, or stands for zero");
        text += static_cast<char>(byte);
        encoded.remove_prefix(3);
    }
    return text;
}

Status check_brokers(std::string_view brokers) {
    if (brokers.empty()) return bad_url("the address names no broker");
    while (!brokers.empty()) {
        std::string_view one = cut(brokers, ',');
        const auto colon = one.rfind(':');
        const std::string_view port =
            colon == std::string_view::npos || one.ends_with(']') ? "9092" : one.substr(colon + 1);
        unsigned number = 0;
        const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), number);
        if (one.empty() || colon == 0 || failed != std::errc() || end != port.data() + port.size() || number == 0 ||
            number > 65'535)
            return bad_url("a broker of the address has no host, or a port that is none");
    }
    return {};
}

Result<Address> parse(std::string_view url) {
    if (!url.starts_with(scheme)) return bad_url("the address does not begin with kafka://");
    url.remove_prefix(scheme.size());
    if (url.find('#') != std::string_view::npos) return bad_url("the address has a fragment, which means nothing here");
    std::string_view place = cut(url, '?');
    std::string_view authority = cut(place, '/');
    Address address{.path = SEMEL_TRY(plain(place))};
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        std::string_view user = authority.substr(0, at);
        authority.remove_prefix(at + 1);
        address.connection.settings.push_back({"sasl.username", SEMEL_TRY(plain(cut(user, ':')))});
        address.connection.settings.push_back({"sasl.password", SEMEL_TRY(plain(user))});
    }
    SEMEL_TRY(check_brokers(authority));
    address.connection.brokers = std::string(authority);
    while (!url.empty()) {
        std::string_view parameter = cut(url, '&');
        std::string name = SEMEL_TRY(plain(cut(parameter, '=')));
        std::string value = SEMEL_TRY(plain(parameter));
        for (const auto& [known, unused] : address.parameters)
            if (known == name) return bad_url("the parameter " + name + " stands there twice");
        address.parameters.emplace_back(std::move(name), std::move(value));
    }
    return address;
}

Result<Duration> duration_of(std::string_view text, std::string_view name) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    constexpr std::int64_t most = 1'000'000'000;
    if (failed == std::errc() && number > 0 && number <= most) {
        if (unit == "ms") return std::chrono::milliseconds(number);
        if (unit == "s") return std::chrono::seconds(number);
        if (unit == "m") return std::chrono::minutes(number);
    }
    return bad_url("the parameter " + std::string(name) + " is a time such as 500ms, 10s or 2m");
}

Result<std::size_t> number_of(std::string_view text, std::string_view name) {
    std::size_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc() && end == text.data() + text.size()) return number;
    return bad_url("the parameter " + std::string(name) + " is a number");
}

/// Takes a parameter if it is one of its own; false: it is not.
using Take = std::function<Result<bool>(const std::string& name, const std::string& value)>;

Status take_parameters(const Address& address, Connection& connection, const Take& take) {
    connection = address.connection;
    for (const auto& [name, value] : address.parameters) {
        if (SEMEL_TRY(take(name, value))) continue;
        if (!may_be_set(name)) return bad_url("the parameter " + name + " is not known, or cannot be set");
        connection.settings.push_back({name, value});
    }
    return {};
}

}  // namespace

Result<KafkaSinkOptions> sink_options(std::string_view url) {
    const Address address = SEMEL_TRY(parse(url));
    KafkaSinkOptions options;
    options.topic = address.path;
    SEMEL_TRY(check_topic(options.topic));
    const Take take = [&](const std::string& name, const std::string& value) -> Result<bool> {
        if (name == "mode") {
            if (value != "binary" && value != "structured") return bad_url("the mode is binary or structured");
            options.mode = value == "binary" ? Mode::binary : Mode::structured;
        } else if (name == "deadline") {
            options.deadline = SEMEL_TRY(duration_of(value, name));
        } else if (name == "max_in_flight") {
            options.max_in_flight = SEMEL_TRY(number_of(value, name));
        } else if (name == "source") {
            options.event.source = value;
        } else {
            return false;
        }
        return true;
    };
    SEMEL_TRY(take_parameters(address, options.connection, take));
    return options;
}

Result<KafkaSourceOptions> source_options(std::string_view url) {
    const Address address = SEMEL_TRY(parse(url));
    KafkaSourceOptions options;
    for (std::string_view topics = address.path; !topics.empty();) options.topics.emplace_back(cut(topics, ','));
    if (options.topics.empty()) return bad_url("the address names no topic");
    for (const std::string& topic : options.topics) SEMEL_TRY(check_topic(topic));
    const Take take = [&](const std::string& name, const std::string& value) -> Result<bool> {
        if (name == "group") {
            options.group = value;
        } else if (name == "patience") {
            options.patience = SEMEL_TRY(duration_of(value, name));
        } else if (name == "commit_interval") {
            options.commit_interval = SEMEL_TRY(duration_of(value, name));
        } else {
            return false;
        }
        return true;
    };
    SEMEL_TRY(take_parameters(address, options.connection, take));
    if (options.group.empty()) return bad_url("a source needs a group: add ?group=name");
    return options;
}

}  // namespace semel::kafka
