#pragma once

#include "semel/rabbitmq/sink.hpp"
#include "semel/rabbitmq/source.hpp"
#include "semel/testing/rabbitmq_server.hpp"
#include "tests/conformance/sink_proxy.hpp"

#include <string>

namespace semel::rabbitmq {

inline ConnectionOptions connection_to(int port) {
    ConnectionOptions connection;
    connection.servers = {{.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)}};
    return connection;
}

/// A name that no test of this process had before.
inline std::string fresh_exchange() {
    static int exchanges = 0;
    return "x" + std::to_string(++exchanges);
}

inline RabbitmqSinkOptions sink_to(int port, const std::string& exchange) {
    RabbitmqSinkOptions options;
    options.connection = connection_to(port);
    options.exchange = exchange;
    options.declare = true;
    return options;
}

inline RabbitmqSourceOptions source_from(int port, const std::string& exchange, const std::string& consumer) {
    RabbitmqSourceOptions options;
    options.connection = connection_to(port);
    options.exchange = exchange;
    options.queue = exchange + "-" + consumer;
    options.declare = true;
    return options;
}

}  // namespace semel::rabbitmq
