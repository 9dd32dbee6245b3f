#include "semel/smtp/mail.hpp"

#include "semel/base/base64.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace semel::smtp {
namespace {

constexpr std::size_t body_line = 76;
/// Bytes of one encoded word: 75 characters at most, by RFC 2047.
constexpr std::size_t word_bytes = 45;

/// RFC 5322, in UTC.
std::string date_text(Timestamp time) {
    constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
    return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} +0000", days.at(std::chrono::weekday(day).c_encoding()),
                       static_cast<unsigned>(date.day()), months.at(static_cast<unsigned>(date.month()) - 1),
                       static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                       clock.seconds().count());
}

bool is_plain(std::string_view text) {
    return text.size() <= body_line && std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

/// Any text as the value of a field: as it is, or as encoded words on lines of their own. Characters are not cut in two.
std::string encoded_text(std::string_view text) {
    if (is_plain(text)) return std::string(text);
    std::string encoded;
    while (!text.empty()) {
        std::size_t length = std::min(word_bytes, text.size());
        while (length > 1 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80)
            --length;
        if (!encoded.empty()) encoded += "\r\n ";
        encoded += "=?utf-8?B?" + base64(bytes_of(text.substr(0, length))) + "?=";
        text.remove_prefix(length);
    }
    return encoded;
}

std::string encoded_body(std::string_view body) {
    const std::string text = base64(bytes_of(body));
    std::string lines;
    for (std::size_t at = 0; at < text.size(); at += body_line) {
        lines.append(text, at, body_line);
        lines += "\r\n";
    }
    return lines;
}

}  // namespace

bool is_mail_address(std::string_view text) noexcept {
    const bool clean = std::ranges::all_of(text, [](char c) {
        return c > 0x20 && c < 0x7f && c != '<' && c != '>' && c != ',' && c != ';' && c != '"' && c != '\\';
    });
    const std::size_t at = text.find('@');
    return clean && text.size() <= 254 && at != std::string_view::npos && at > 0 && at + 1 < text.size() &&
           text.find('@', at + 1) == std::string_view::npos;
}

Result<std::string> mail_of(const Message& message, const Letterhead& letterhead) {
    const bool structured = letterhead.mode == Mode::structured;
    const auto event = SEMEL_TRY(binary_cloud_event(message, letterhead.event, "ce-", HeaderEncoding::percent));
    std::string mail;
    const auto field = [&mail](std::string_view name, std::string_view value) {
        mail.append(name).append(": ").append(value).append("\r\n");
    };
    const std::string& from = letterhead.from;
    field("From", from);
    field("To", fmt::format("{}", fmt::join(letterhead.to, ",\r\n ")));
    field("Date", date_text(message.created_at));
    field("Message-ID", "<" + message.id.text() + from.substr(from.find('@')) + ">");
    field("Subject", encoded_text(message.type + " " + message.aggregate.type + "/" + message.aggregate.id));
    field("Auto-Submitted", "auto-generated");
    field("MIME-Version", "1.0");
    field("Content-Transfer-Encoding", "base64");
    if (structured) {
        field("Content-Type", "application/cloudevents+json; charset=utf-8");
    } else {
        for (const CloudEventAttribute& one : event.headers)
            // No line of a mail is longer than 998 bytes.
            if (one.name.size() + one.value.size() > 900)
                return fail(Fault::rejected, fmt::format("the attribute {} is too long for a mail", one.name));
            else
                field(one.name, one.value);
    }
    mail += "\r\n";
    if (structured) {
        const std::string document = SEMEL_TRY(structured_cloud_event(message, letterhead.event));
        return mail + encoded_body(document);
    }
    return mail + encoded_body(event.body);
}

}  // namespace semel::smtp
