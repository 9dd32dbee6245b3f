#pragma once

#include "semel/nats/sink.hpp"
#include "semel/nats/source.hpp"
#include "semel/testing/nats_server.hpp"
#include "tests/conformance/sink_proxy.hpp"

#include <nats/nats.h>

#include <memory>
#include <string>

namespace semel::nats {

inline ConnectionOptions connection_to(int port) {
    ConnectionOptions connection;
    connection.servers = {{.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)}};
    return connection;
}

/// A name that no test of this process had before.
inline std::string fresh_stream() {
    static int streams = 0;
    return "S" + std::to_string(++streams);
}

inline NatsSinkOptions sink_to(int port, const std::string& stream) {
    NatsSinkOptions options;
    options.connection = connection_to(port);
    options.stream = stream;
    options.stream_options.create = true;
    return options;
}

inline NatsSourceOptions source_from(int port, const std::string& stream, const std::string& consumer) {
    NatsSourceOptions options;
    options.connection = connection_to(port);
    options.stream = stream;
    options.consumer = consumer;
    return options;
}

}  // namespace semel::nats
