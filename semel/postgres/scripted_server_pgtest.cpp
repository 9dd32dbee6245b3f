#include "semel/postgres/scripted_server_pgtest.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace semel::postgres {
namespace {

constexpr std::uint32_t ssl_request = 80877103;
constexpr std::uint32_t backend_pid = 4711;

std::string number(std::uint32_t value) {
    const std::uint32_t swapped = htonl(value);
    return {reinterpret_cast<const char*>(&swapped), 4};
}
std::string short_number(std::size_t value) {
    const std::uint16_t swapped = htons(static_cast<std::uint16_t>(value));
    return {reinterpret_cast<const char*>(&swapped), 2};
}
std::string message(char type, const std::string& body) {
    return std::string(1, type) + number(static_cast<std::uint32_t>(body.size() + 4)) + body;
}
std::string text(const std::string& value) { return value + '\0'; }

std::string report(char type, const std::string& severity, bool untranslated, const std::string& code,
                   const std::string& words) {
    std::string body = "S" + text(severity);
    if (untranslated) body += "V" + text(severity);
    return message(type, body + "C" + text(code) + "M" + text(words) + '\0');
}

bool send_all(int socket, const std::string& bytes) {
    return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}
bool read_exactly(int socket, char* into, std::size_t count) {
    return count == 0 || ::recv(socket, into, count, MSG_WAITALL) == static_cast<ssize_t>(count);
}
bool read_body(int socket, std::string& body) {
    std::uint32_t length = 0;
    if (!read_exactly(socket, reinterpret_cast<char*>(&length), 4)) return false;
    body.resize(ntohl(length) - 4);
    return read_exactly(socket, body.data(), body.size());
}

std::string row_description(std::size_t columns, std::uint32_t type, bool binary) {
    std::string body = short_number(columns);
    for (std::size_t i = 0; i < columns; ++i)
        body += text("c" + std::to_string(i)) + number(0) + short_number(0) + number(type) + short_number(0xffff) +
                number(0xffffffffU) + short_number(binary ? 1 : 0);
    return message('T', body);
}
std::string data_row(const std::vector<std::string>& row) {
    std::string body = short_number(row.size());
    for (const std::string& field : row) body += number(static_cast<std::uint32_t>(field.size())) + field;
    return message('D', body);
}

}  // namespace

ScriptedAnswer ScriptedServer::usual(const std::string& sql) {
    const auto starts = [&](std::string_view start) { return std::string_view(sql).starts_with(start); };
    ScriptedAnswer answer;
    if (starts("BEGIN"))
        answer.tag = "BEGIN";
    else if (starts("COMMIT"))
        answer.tag = "COMMIT";
    else if (starts("ROLLBACK"))
        answer.tag = "ROLLBACK";
    else if (starts("SELECT pg_backend_pid()"))
        answer.row = {std::to_string(backend_pid), "off", "read committed"};
    else if (starts("SELECT (SELECT system_identifier"))
        answer.row = {"1/00000001", "1", "1"};
    else if (starts("SELECT pg_current_xact_id"))
        answer.row = {"777"};
    else if (starts("SELECT set_config"))
        answer.row = {"1", "1", "1", "1", "1"};
    if (!answer.row.empty()) answer.tag = "SELECT 1";
    return answer;
}

ScriptedServer::ScriptedServer(Script script)
    : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    (void)::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size);
    (void)::listen(listener_.get(), 8);
    (void)::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { serve(); });
}

ScriptedServer::~ScriptedServer() {
    (void)::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
}

std::string ScriptedServer::url() const { return "host=127.0.0.1 user=u dbname=d port=" + std::to_string(port_); }

std::vector<std::string> ScriptedServer::seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
}

void ScriptedServer::refuse_with(std::string code, std::string words, bool untranslated) {
    const std::lock_guard lock(mutex_);
    refusal_ = report('E', "FATAL", untranslated, code, words);
}

void ScriptedServer::serve() {
    for (;;) {
        const testing::FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (socket.get() < 0) return;
        const int on = 1;  // Answers go out at once, however small.
        (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        talk(socket.get());
    }
}

bool ScriptedServer::start_up(int socket) {
    std::string body;
    for (;;) {
        if (!read_body(socket, body) || body.size() < 4) return false;
        std::uint32_t version = 0;
        std::memcpy(&version, body.data(), 4);
        if (ntohl(version) != ssl_request) break;
        if (!send_all(socket, "N")) return false;
    }
    const std::lock_guard lock(mutex_);
    if (!refusal_.empty()) return send_all(socket, refusal_) && false;
    return send_all(socket, message('R', number(0)) + message('S', text("server_version") + text("15.0")) +
                                message('S', text("client_encoding") + text("UTF8")) +
                                message('K', number(backend_pid) + number(1)) + message('Z', "I"));
}

void ScriptedServer::talk(int socket) {
    prepared_.clear();
    status_ = 'I';
    skipping_ = false;
    if (!start_up(socket)) return;
    for (;;) {
        char type = 0;
        std::string body;
        if (!read_exactly(socket, &type, 1) || !read_body(socket, body)) return;
        if (!answer(socket, type, body)) return;
    }
}

bool ScriptedServer::answer(int socket, char type, std::string_view body) {
    if (type == 'X') return false;
    if (type == 'S') {
        skipping_ = false;
        const std::string code = std::exchange(current_answer_.error_at_sync, {});
        if (!code.empty() && !send_all(socket, report('E', "ERROR", true, code, "scripted"))) return false;
        return send_all(socket, message('Z', std::string(1, status_)));
    }
    if (skipping_) return true;
    if (type == 'P') {
        const std::string name(body.data());
        prepared_[name] = body.data() + name.size() + 1;
        return send_all(socket, message('1', ""));
    }
    if (type == 'B') {
        const std::size_t portal = std::strlen(body.data());
        current_ = prepared_[std::string(body.data() + portal + 1)];
        current_answer_ = script_(current_);
        binary_ = body.back() == 1;  // The form that the answer is wanted in comes last.
        return send_all(socket, message('2', ""));
    }
    const ScriptedAnswer& reply = current_answer_;
    if (type == 'D')
        return send_all(socket,
                        reply.row.empty() ? message('n', "") : row_description(reply.row.size(), reply.type, binary_));
    if (type != 'E') return true;
    {
        const std::lock_guard lock(mutex_);
        seen_.push_back(current_);
    }
    std::string bytes;
    if (!reply.row.empty()) bytes += data_row(reply.row);
    if (!reply.warning.empty()) bytes += report('N', "WARNING", true, "01000", reply.warning);
    if (!reply.error_code.empty()) {
        bytes += report('E', reply.error_severity, reply.severity_untranslated, reply.error_code, "scripted");
        skipping_ = true;
        if (status_ == 'T') status_ = 'E';
    } else {
        bytes += message('C', text(reply.tag));
        if (reply.tag == "BEGIN") status_ = 'T';
        if (reply.tag == "COMMIT" || reply.tag == "ROLLBACK") status_ = 'I';
    }
    return send_all(socket, bytes) && !reply.closes;
}

}  // namespace semel::postgres
