#include "semel/smtp/sink.hpp"

#include "semel/smtp/answer.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <utility>

namespace semel::smtp {
namespace {

struct FreeEasy {
    void operator()(CURL* easy) const noexcept { ::curl_easy_cleanup(easy); }
};
struct FreeList {
    void operator()(curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
};

/// What is left to be sent of one mail.
struct Upload {
    std::string_view rest;
    static std::size_t read(char* buffer, std::size_t size, std::size_t count, void* upload) {
        std::string_view& left = static_cast<Upload*>(upload)->rest;
        const std::size_t taken = left.copy(buffer, std::min(size * count, left.size()));
        left.remove_prefix(taken);
        return taken;
    }
};

/// The last line that the server said, for people.
std::size_t keep_line(char* line, std::size_t size, std::size_t count, void* kept) {
    static_cast<std::string*>(kept)->assign(line, std::min<std::size_t>(size * count, 512));
    return size * count;
}

Status check(const SmtpSinkOptions& options) {
    const Letterhead& head = options.letterhead;
    if (!is_mail_address(head.from)) return fail(Fault::rejected, "`from` is missing, or no mail address");
    if (head.to.empty()) return fail(Fault::rejected, "nobody is named by `to`");
    for (const std::string& one : head.to)
        if (!is_mail_address(one)) return fail(Fault::rejected, "`to` holds something that is no mail address");
    if (head.event.source.empty()) return fail(Fault::rejected, "the source of the events is empty");
    if (!options.user.empty() && options.tls == Tls::none && !options.server.starts_with("smtps:"))
        return fail(Fault::rejected, "a password is not sent without TLS");
    return {};
}

}  // namespace

struct SmtpSink::State {
    SmtpSinkOptions options;
    Clock* clock;
    std::unique_ptr<CURL, FreeEasy> easy;
    std::unique_ptr<curl_slist, FreeList> readers;
    std::string said;
    std::array<char, CURL_ERROR_SIZE> failure{};

    void configure() {
        CURL* curl = easy.get();
        ::curl_easy_setopt(curl, CURLOPT_URL, options.server.c_str());
        ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
        ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        ::curl_easy_setopt(curl, CURLOPT_PROXY, "");
        ::curl_easy_setopt(curl, CURLOPT_USE_SSL,
                           static_cast<long>(options.tls == Tls::required ? CURLUSESSL_ALL : CURLUSESSL_NONE));
        if (!options.ca_file.empty()) ::curl_easy_setopt(curl, CURLOPT_CAINFO, options.ca_file.c_str());
        if (!options.user.empty()) {
            ::curl_easy_setopt(curl, CURLOPT_USERNAME, options.user.c_str());
            ::curl_easy_setopt(curl, CURLOPT_PASSWORD, options.password.c_str());
        }
        const std::string sender = "<" + options.letterhead.from + ">";
        ::curl_easy_setopt(curl, CURLOPT_MAIL_FROM, sender.c_str());
        for (const std::string& one : options.letterhead.to)
            readers.reset(::curl_slist_append(readers.release(), ("<" + one + ">").c_str()));
        ::curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, readers.get());
        ::curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        ::curl_easy_setopt(curl, CURLOPT_READFUNCTION, &Upload::read);
        ::curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &keep_line);
        ::curl_easy_setopt(curl, CURLOPT_HEADERDATA, &said);
        ::curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, failure.data());
        ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options.connect_limit));
    }

    static long milliseconds(Duration time) {
        return static_cast<long>(std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(time).count()));
    }

    Status send(const Message& message, Deadline deadline) {
        const std::string mail = SEMEL_TRY(mail_of(message, options.letterhead));
        Upload upload{.rest = mail};
        said.clear();
        failure[0] = '\0';
        CURL* curl = easy.get();
        ::curl_easy_setopt(curl, CURLOPT_READDATA, &upload);
        ::curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, milliseconds(deadline.remaining(clock->now())));
        const CURLcode code = ::curl_easy_perform(curl);
        long reply = 0;
        ::curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply);
        while (!said.empty() && (said.back() == '\n' || said.back() == '\r')) said.pop_back();
        return judge({.curl = static_cast<int>(code),
                      .reply = reply,
                      .sent_whole = upload.rest.empty(),
                      .said = said.empty() ? std::string(failure.data()) : said});
    }
};

Result<std::unique_ptr<SmtpSink>> SmtpSink::open(SmtpSinkOptions options, Clock& clock) {
    SEMEL_TRY(check(options));
    static const CURLcode started = ::curl_global_init(CURL_GLOBAL_DEFAULT);
    auto state = std::make_unique<State>(
        State{.options = std::move(options), .clock = &clock, .easy = nullptr, .readers = nullptr, .said = {}});
    state->easy.reset(::curl_easy_init());
    if (started != CURLE_OK || !state->easy) return fail(Fault::unavailable, "libcurl cannot be used");
    state->configure();
    return std::unique_ptr<SmtpSink>(new SmtpSink(std::move(state)));
}

SmtpSink::SmtpSink(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
SmtpSink::~SmtpSink() = default;

std::vector<Status> SmtpSink::publish(std::span<const Message> messages, Deadline deadline) {
    const Deadline limit = deadline.within(state_->clock->now(), state_->options.deadline);
    std::vector<Status> answers;
    answers.reserve(messages.size());
    std::optional<Error> away;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto held_back = [&] {
            for (std::size_t before = 0; before < i; ++before)
                if (!answers[before] && same_aggregate(messages[before], messages[i])) return true;
            return false;
        };
        if (held_back()) {
            answers.emplace_back(fail(behind_unacknowledged()));
        } else if (away || limit.passed(state_->clock->now())) {
            // One mail server: if it is away for one, it is for all.
            answers.emplace_back(fail(away.value_or(not_sent_in_time())));
        } else {
            answers.push_back(state_->send(messages[i], limit));
            if (const Status& last = answers.back(); !last && last.error().fault != Fault::rejected)
                away = not_sent_after(last.error());
        }
    }
    return answers;
}

}  // namespace semel::smtp
