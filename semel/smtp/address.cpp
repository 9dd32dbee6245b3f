#include "semel/smtp/sink.hpp"

#include <curl/curl.h>

#include <memory>
#include <optional>

namespace semel::smtp {
namespace {

struct FreeUrl {
    void operator()(CURLU* url) const noexcept { ::curl_url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, FreeUrl>;

std::optional<std::string> part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
    char* text = nullptr;
    if (::curl_url_get(url, part, &text, flags) != CURLUE_OK) return std::nullopt;
    std::string copied(text);
    ::curl_free(text);
    return copied;
}

std::string unescaped(std::string_view text) {
    int length = 0;
    char* plain = ::curl_easy_unescape(nullptr, text.data(), static_cast<int>(text.size()), &length);
    if (plain == nullptr) return {};
    std::string copied(plain, static_cast<std::size_t>(length));
    ::curl_free(plain);
    return copied;
}

Status set_parameter(SmtpSinkOptions& options, std::string_view name, std::string value) {
    Letterhead& head = options.letterhead;
    if (name == "to") {
        head.to.push_back(std::move(value));
    } else if (name == "from") {
        head.from = std::move(value);
    } else if (name == "ca") {
        options.ca_file = std::move(value);
    } else if (name == "source") {
        head.event.source = std::move(value);
    } else if (name == "mode") {
        if (value != "binary" && value != "structured") return fail(Fault::rejected, "mode is binary or structured");
        head.mode = value == "binary" ? Mode::binary : Mode::structured;
    } else if (name == "tls") {
        if (value != "required" && value != "none") return fail(Fault::rejected, "tls is required or none");
        options.tls = value == "required" ? Tls::required : Tls::none;
    } else {
        return fail(Fault::rejected, "nobody knows the parameter " + std::string(name) +
                                         "; there are to, from, mode, tls, ca and source");
    }
    return {};
}

}  // namespace

Result<SmtpSinkOptions> sink_options(std::string_view address) {
    const UrlHandle url(::curl_url());
    if (!url ||
        ::curl_url_set(url.get(), CURLUPART_URL, std::string(address).c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return fail(Fault::rejected, "it is no URL: write smtp://user:password@host:port?to=ADDRESS&from=ADDRESS");
    SmtpSinkOptions options;
    const std::string scheme = part_of(url.get(), CURLUPART_SCHEME).value_or("");
    if (scheme != "smtp" && scheme != "smtps") return fail(Fault::rejected, "mail goes to smtp:// or smtps://");
    const std::string path = part_of(url.get(), CURLUPART_PATH).value_or("/");
    if (path != "/") return fail(Fault::rejected, "a mail server has no path; readers are named by ?to=ADDRESS");
    options.server = scheme + "://" + part_of(url.get(), CURLUPART_HOST).value_or("");
    if (const auto port = part_of(url.get(), CURLUPART_PORT)) options.server += ":" + *port;
    options.user = part_of(url.get(), CURLUPART_USER, CURLU_URLDECODE).value_or("");
    options.password = part_of(url.get(), CURLUPART_PASSWORD, CURLU_URLDECODE).value_or("");
    const std::string query = part_of(url.get(), CURLUPART_QUERY).value_or("");
    for (std::string_view rest = query; !rest.empty();) {
        const std::string_view one = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
        const std::size_t sign = std::min(one.find('='), one.size());
        SEMEL_TRY(set_parameter(options, one.substr(0, sign), unescaped(one.substr(std::min(sign + 1, one.size())))));
    }
    return options;
}

}  // namespace semel::smtp
