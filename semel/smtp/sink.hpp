#pragma once

#include "semel/base/time.hpp"
#include "semel/sink/sink.hpp"
#include "semel/smtp/mail.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace semel::smtp {

enum class Tls : unsigned char {
    required,  ///< By STARTTLS, or from the start with smtps://; the certificate is verified.
    none,      ///< For a mail server on the same machine.
};

struct SmtpSinkOptions {
    std::string server{};  ///< "smtp://host:port" or "smtps://host:port"
    std::string user{};
    std::string password{};
    Tls tls = Tls::required;
    std::string ca_file{};  ///< PEM; the system's if empty.
    Letterhead letterhead{};
    Duration connect_limit = std::chrono::seconds(5);
    Duration deadline = std::chrono::seconds(30);  ///< Of one `publish`, if the caller allows more.
};

/// From an address: smtp://user:password@host:port?to=ops@shop.example&from=shop@shop.example, with `to` once for each
/// reader, and mode=structured, tls=none, ca=FILE. An Error (`rejected`) says what is wrong, and shows no password.
[[nodiscard]] Result<SmtpSinkOptions> sink_options(std::string_view address);

/// Sends each event as a mail of its own, one after the other on one connection. Acknowledged means that the server has
/// taken it upon itself to deliver it, to all readers. What was sent whole and not answered is `unknown`, and is sent again
/// under the same Message-ID. One thread at a time.
class SmtpSink final : public Sink {
public:
    /// An Error (`rejected`) says what is wrong with the options. Talks to nobody.
    [[nodiscard]] static Result<std::unique_ptr<SmtpSink>> open(SmtpSinkOptions options, Clock& clock = system_clock());
    ~SmtpSink() override;
    SmtpSink(const SmtpSink&) = delete;
    SmtpSink& operator=(const SmtpSink&) = delete;

    [[nodiscard]] std::vector<Status> publish(std::span<const Message> messages, Deadline deadline) override;

private:
    struct State;
    explicit SmtpSink(std::unique_ptr<State> state) noexcept;
    std::unique_ptr<State> state_;
};

}  // namespace semel::smtp
