#pragma once

#include "semel/base/time.hpp"
#include "semel/postgres/encode.hpp"
#include "semel/postgres/handles.hpp"
#include "semel/retry/deadline.hpp"

#include <cstdint>
#include <string>

namespace semel::postgres {

/// In which form the fields of an answer come.
enum class Format : std::uint8_t { text, binary };

/// How a wait for the server ended.
enum class Wait : std::uint8_t {
    ready,     ///< The next answer can be taken.
    deadline,  ///< It did not come in time.
    lost,      ///< It will not come: the connection is gone. `take` may still hold the reason.
};

/// A connection in libpq's pipeline mode with a non-blocking socket: statements go out without
/// waiting, answers come back in order. Whoever waits also reads while writing, so that two full
/// buffers cannot block each other. Listens to notices. Neither copied nor moved.
class Wire {
public:
    /// Enters pipeline mode. The connection must be idle.
    Wire(PGconn* connection, Clock& clock);
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    // Sending. False: the connection is gone. Text goes to libpq's buffer and partly to the socket.
    [[nodiscard]] bool send(const char* sql, const Arguments& arguments);
    [[nodiscard]] bool send_prepare(const char* name, const char* sql);
    [[nodiscard]] bool send_prepared(const char* name, const Arguments& arguments, Format results);
    [[nodiscard]] bool send_sync();
    /// Waits until the socket took what was sent so far, reading meanwhile: keeps the buffer of a
    /// large flush small.
    [[nodiscard]] Wait drain_output(Deadline deadline);

    /// Waits until `take` would not block.
    [[nodiscard]] Wait await(Deadline deadline);
    /// The next answer; null at the end of each statement's answers.
    [[nodiscard]] ResultHandle take();

    /// Leaves pipeline mode and sends a text of several statements by the simple protocol. After
    /// its answers were taken up to the final null, `end_script` goes back.
    [[nodiscard]] bool send_script(const char* script);
    [[nodiscard]] bool end_script();

    /// Whether the connection still stands, having looked at the socket without waiting.
    [[nodiscard]] bool alive();
    /// Asks the server to cancel what it is doing for this connection. Returns at once; the asking
    /// is done in the background, because libpq's own blocks.
    void cancel();

    [[nodiscard]] PGconn* connection() const noexcept { return connection_; }
    /// WARNINGs received so far.
    [[nodiscard]] std::uint64_t warnings() const noexcept { return warnings_; }
    [[nodiscard]] const std::string& last_warning() const noexcept { return last_warning_; }
    /// SQLSTATE and text of the FATAL that ended an idle connection; empty if none came.
    [[nodiscard]] const std::string& fatal_code() const noexcept { return fatal_code_; }
    [[nodiscard]] const std::string& fatal_text() const noexcept { return fatal_text_; }
    /// What libpq has to say about the lost connection.
    [[nodiscard]] std::string last_words() const;

private:
    static void on_notice(void* wire, const PGresult* notice);
    /// Waits for the socket, at most until the deadline; false once that has passed.
    [[nodiscard]] bool wait_for_socket(bool to_write, Deadline deadline);

    PGconn* connection_;
    Clock* clock_;
    std::uint64_t warnings_ = 0;
    std::string last_warning_;
    std::string fatal_code_;
    std::string fatal_text_;
};

}  // namespace semel::postgres
