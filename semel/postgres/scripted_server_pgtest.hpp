#pragma once

#include "semel/testing/file_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace semel::postgres {

/// What the scripted server answers to one statement.
struct ScriptedAnswer {
    std::vector<std::string> row;  ///< Of the single row; none without columns.
    std::uint32_t type = 25;       ///< Of its columns, by PostgreSQL's number: text.
    std::string tag = "INSERT 0 1";
    std::string warning;     ///< Sent as a WARNING before the tag.
    std::string error_code;  ///< Instead of the tag.
    std::string error_severity = "ERROR";
    bool severity_untranslated = true;  ///< False: as pgbouncer does, without the field V.
    bool closes = false;                ///< Ends the connection behind it.
    std::string error_at_sync;          ///< Code of an ERROR that comes only at the Sync behind it.
};

/// A server that speaks just enough of the protocol to answer what no real one can be made to
/// answer. Serves one connection after the other on loopback.
class ScriptedServer {
public:
    using Script = std::function<ScriptedAnswer(const std::string& sql)>;

    explicit ScriptedServer(Script script);
    ~ScriptedServer();
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    /// Refuses every connection with this SQLSTATE from now on.
    void refuse_with(std::string code, std::string text, bool untranslated);
    [[nodiscard]] std::string url() const;
    /// Texts of the statements executed so far.
    [[nodiscard]] std::vector<std::string> seen() const;

    /// What a healthy server answers to the session's own statements.
    [[nodiscard]] static ScriptedAnswer usual(const std::string& sql);

private:
    void serve();
    void talk(int socket);
    [[nodiscard]] bool start_up(int socket);
    [[nodiscard]] bool answer(int socket, char type, std::string_view body);

    Script script_;
    testing::FileDescriptor listener_;
    int port_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> seen_;
    std::string refusal_;
    // Of the conversation.
    std::map<std::string, std::string, std::less<>> prepared_;
    std::string current_;
    ScriptedAnswer current_answer_;
    bool binary_ = false;
    char status_ = 'I';
    bool skipping_ = false;
    std::jthread thread_;
};

}  // namespace semel::postgres
