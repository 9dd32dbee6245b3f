#include "semel/nats/subject.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace semel::nats {
namespace {

/// A server reads control lines of 4,096 bytes, which hold two subjects and some numbers.
constexpr std::size_t subject_max = 1'024;

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/// One token, which is never empty.
void append_token(std::string& subject, std::string_view text) {
    if (text.empty()) subject += '_';
    for (const char c : text) subject += is_plain(c) ? c : '_';
}

void append_tokens(std::string& subject, std::string_view text) {
    while (true) {
        const auto dot = text.find('.');
        append_token(subject, text.substr(0, dot));
        if (dot == std::string_view::npos) return;
        subject += '.';
        text.remove_prefix(dot + 1);
    }
}

std::string_view next_token(std::string_view& text) {
    const auto dot = text.find('.');
    const std::string_view token = text.substr(0, dot);
    text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
    return token;
}

bool covers_one(std::string_view pattern, std::string_view subject) {
    while (!pattern.empty() && !subject.empty()) {
        const std::string_view wanted = next_token(pattern);
        if (wanted == ">") return true;
        if (const std::string_view token = next_token(subject); wanted != "*" && wanted != token) return false;
    }
    return pattern.empty() && subject.empty();
}

}  // namespace

Result<SubjectTemplate> SubjectTemplate::parse(std::string_view text, std::string_view stream) {
    using Kind = Part::Kind;
    constexpr std::array<std::pair<std::string_view, Kind>, 4> names{{{"{tenant}", Kind::tenant},
                                                                      {"{aggregate_type}", Kind::aggregate_type},
                                                                      {"{aggregate_id}", Kind::aggregate_id},
                                                                      {"{type}", Kind::type}}};
    constexpr std::string_view stream_name = "{stream}";
    SubjectTemplate made;
    std::string sample;  // With a letter for each name: must be a subject by itself.
    std::string plain;
    while (!text.empty()) {
        if (text[0] != '{') {
            plain += text[0];
            sample += text[0];
            text.remove_prefix(1);
            continue;
        }
        if (text.starts_with(stream_name)) {
            plain += stream;
            sample += stream;
            text.remove_prefix(stream_name.size());
            continue;
        }
        const auto known = std::ranges::find_if(names, [&](const auto& one) { return text.starts_with(one.first); });
        if (known == names.end())
            return fail(Fault::rejected,
                        "a subject knows {stream}, {tenant}, {aggregate_type}, {aggregate_id} and {type}");
        if (!plain.empty()) made.parts_.push_back({.kind = Kind::text, .text = std::exchange(plain, {})});
        made.parts_.push_back({.kind = known->second});
        sample += 'x';
        text.remove_prefix(known->first.size());
    }
    if (!plain.empty()) made.parts_.push_back({.kind = Kind::text, .text = plain});
    std::string_view rest = sample;
    do {
        const std::string_view token = next_token(rest);
        if (token.empty() || !std::ranges::all_of(token, is_plain))
            return fail(Fault::rejected,
                        "a subject is made of letters, digits, - and _, with single dots between them");
    } while (!rest.empty());
    if (sample.ends_with('.')) return fail(Fault::rejected, "a subject does not end with a dot");
    return made;
}

Result<std::string> SubjectTemplate::subject_of(const Message& message) const {
    using Kind = Part::Kind;
    std::string subject;
    for (const Part& part : parts_) {
        switch (part.kind) {
            case Kind::text: subject += part.text; break;
            case Kind::tenant: append_token(subject, message.tenant); break;
            case Kind::aggregate_type: append_token(subject, message.aggregate.type); break;
            case Kind::aggregate_id: append_token(subject, message.aggregate.id); break;
            case Kind::type: append_tokens(subject, message.type); break;
        }
    }
    if (subject.size() > subject_max) return fail(Fault::rejected, "the subject of the event would be too long");
    return subject;
}

bool covers(std::span<const std::string> patterns, std::string_view subject) {
    return std::ranges::any_of(patterns, [&](const std::string& one) { return covers_one(one, subject); });
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.size() <= 255 && std::ranges::all_of(name, is_plain);
}

}  // namespace semel::nats
