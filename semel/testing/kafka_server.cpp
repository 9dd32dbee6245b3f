#include "semel/testing/kafka_server.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace semel::testing {
namespace {

constexpr Duration kafka_limit = std::chrono::seconds(60);
constexpr Duration kafka_look_every = std::chrono::milliseconds(20);
constexpr int broker_megabytes = 512;
constexpr int tool_megabytes = 128;
/// Any will do: the broker is alone.
constexpr const char* cluster_id = "c2VtZWxzZW1lbHNlbWVsMQ";

std::string kafka_log_text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Result<KafkaServer> KafkaServer::start(const KafkaOptions& options) {
    std::string java = find_program("java");
    if (java.empty())
        return fail(Fault::unavailable, "no java found in PATH; `apt-get install default-jre-headless` brings one");
    KafkaServer server(SEMEL_TRY(TempDir::make("kafka")), std::move(java), options.class_path);
    server.port_ = SEMEL_TRY(free_port());
    server.second_port_ = SEMEL_TRY(free_port());
    server.controller_port_ = SEMEL_TRY(free_port());
    SEMEL_TRY(server.write_settings(options));
    std::vector<std::string> format = server.java("kafka.tools.StorageTool", tool_megabytes);
    format.insert(format.end(), {"format", "-t", cluster_id, "-c", server.settings_file()});
    const Finished done = SEMEL_TRY(run({.argv = std::move(format), .directory = server.dir_.path()}, kafka_limit));
    if (!done.exit.success())
        return fail(Fault::unavailable, "formatting the broker's disk " + done.exit.text() + ": " + done.error_output);
    SEMEL_TRY(server.start_again());
    return server;
}

Status KafkaServer::write_settings(const KafkaOptions& options) const {
    const auto at = [](std::string_view name, int port) {
        return std::string(name) + "://127.0.0.1:" + std::to_string(port);
    };
    std::ofstream file(settings_file());
    file << "process.roles=broker,controller\nnode.id=1\n"
         << "controller.quorum.voters=1@127.0.0.1:" << controller_port_ << "\n"
         << "controller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\n"
         << "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SECOND:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
         << "listeners=" << at("PLAINTEXT", port_) << "," << at("SECOND", second_port_) << ","
         << at("CONTROLLER", controller_port_) << "\n"
         << "advertised.listeners=" << at("PLAINTEXT", port_) << ","
         << at("SECOND", options.second_advertised.value_or(second_port_)) << "\n"
         << "log.dirs=" << (dir_.path() / "data").string()
         << "\n"
         // One node, and as little work as possible: the tests are about what clients see.
         << "num.partitions=4\noffsets.topic.num.partitions=4\ntransaction.state.log.num.partitions=4\n"
         << "offsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\n"
         << "transaction.state.log.min.isr=1\nnum.network.threads=2\nnum.io.threads=2\nlog.cleaner.enable=false\n"
         << "group.initial.rebalance.delay.ms=0\ngroup.min.session.timeout.ms=500\n"
         // After a kill, the controller waits for the end of the session before it takes the broker again.
         << "broker.session.timeout.ms=4000\nbroker.heartbeat.interval.ms=300\n";
    for (const std::string& setting : options.settings) file << setting << "\n";
    file.flush();
    if (!file) return fail(Fault::unavailable, "cannot write " + settings_file());
    return {};
}

std::vector<std::string> KafkaServer::java(std::string_view main, int heap_megabytes) const {
    // The quick compiler and the simple collector: it starts in half the time and leaves the other core alone.
    return {java_,
            "-Xmx" + std::to_string(heap_megabytes) + "m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-cp",
            class_path_,
            std::string(main)};
}

Status KafkaServer::start_again() {
    if (process_ && process_->running()) return fail(Fault::rejected, "the broker runs already");
    std::error_code ignored;
    std::filesystem::remove(log(), ignored);
    std::vector<std::string> argv = java("kafka.Kafka", broker_megabytes);
    argv.push_back(settings_file());
    process_ = SEMEL_TRY(Process::spawn({.argv = std::move(argv), .directory = dir_.path(), .output_file = log()}));
    const Instant until = system_clock().now() + kafka_limit;
    while (system_clock().now() < until) {
        if (kafka_log_text(log()).find("Kafka Server started") != std::string::npos) return {};
        if (const auto exit = process_->wait(kafka_look_every)) return fail(unavailable("the broker " + exit->text()));
    }
    return fail(unavailable("the broker did not start within 60 s"));
}

void KafkaServer::kill9() {
    if (process_) process_->kill();
}

/// With the tail of the broker's log: it knows better than we do what went wrong.
Error KafkaServer::unavailable(std::string message) const {
    constexpr std::size_t tail = 2'000;
    Error error;
    error.fault = Fault::unavailable;
    error.message = std::move(message);
    const std::string text = kafka_log_text(log());
    error.native = text.substr(text.size() > tail ? text.size() - tail : 0);
    return error;
}

}  // namespace semel::testing
