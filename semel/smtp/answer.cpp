#include "semel/smtp/answer.hpp"

#include <curl/curl.h>

#include <utility>

namespace semel::smtp {
namespace {

Error mail_failure(Fault fault, const Answer& answer, std::string message, std::string hint = {}) {
    Error error;
    error.fault = fault;
    error.message = std::move(message);
    error.native = answer.said;
    if (answer.reply != 0) error.cause.code = std::to_string(answer.reply);
    error.cause.hint = std::move(hint);
    return error;
}

/// Who we are, or how we talk, was refused: no mail would fare better.
bool concerns_the_session(long reply) {
    return reply == 502 || reply == 503 || reply == 504 || (reply >= 530 && reply <= 538);
}

}  // namespace

Status judge(const Answer& answer) {
    if (answer.curl == CURLE_OK) return {};
    const std::string code = std::to_string(answer.reply);
    if (answer.curl == CURLE_LOGIN_DENIED || (answer.reply >= 500 && concerns_the_session(answer.reply)))
        return fail(mail_failure(Fault::unavailable, answer, "the mail server does not accept us (" + code + ")",
                                 "correct user, password or TLS of the address"));
    const bool answered =
        answer.curl == CURLE_SEND_ERROR || answer.curl == CURLE_WEIRD_SERVER_REPLY || answer.curl == CURLE_RECV_ERROR;
    if (answered && answer.reply >= 500)
        return fail(mail_failure(Fault::rejected, answer, "the mail server refused it for good (" + code + ")"));
    if (answered && (answer.reply == 450 || answer.reply == 451 || answer.reply == 452))
        return fail(mail_failure(Fault::throttled, answer, "the mail server asks for less (" + code + ")"));
    if (answered && answer.reply >= 400)
        return fail(mail_failure(Fault::unavailable, answer, "the mail server does not take it now (" + code + ")"));
    if (answer.sent_whole)
        return fail(mail_failure(Fault::unknown, answer, "the mail was sent, and the server did not answer"));
    return fail(mail_failure(Fault::unavailable, answer, "the mail server cannot be reached, or does not answer"));
}

Error not_sent_in_time() {
    Error error;
    error.fault = Fault::unavailable;
    error.message = "the time was up before its turn; it was not sent";
    error.cause.timeout = Timeout::queue;
    return error;
}

Error not_sent_after(const Error& met) {
    Error error = met;
    // Only the one that met it may have been taken.
    if (error.fault == Fault::unknown) error.fault = Fault::unavailable;
    error.message = "not sent, since for one before it: " + error.message;
    return error;
}

}  // namespace semel::smtp
