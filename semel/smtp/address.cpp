#include "semel/base/server_url.hpp"
#include "semel/base/url_settings.hpp"
#include "semel/smtp/sink.hpp"

#include <array>
#include <utility>

namespace semel::smtp {
namespace {

constexpr std::array<std::string_view, 2> url_schemes{"smtp", "smtps"};
constexpr ServerUrlForm url_form{.name = "SMTP URL",
                                 .schemes = url_schemes,
                                 .example = "smtp://user:password@host:port?to=ADDRESS&from=ADDRESS",
                                 .repeatable = "to"};

}  // namespace

Result<SmtpSinkOptions> sink_options(std::string_view address) {
    ServerUrl url = SEMEL_TRY(parse_server_url(address, url_form));
    if (!url.path.empty())
        return fail(wrong_url(url_form, "a mail server has no path; readers are named by ?to=ADDRESS"));
    if (url.servers.size() > 1) return fail(wrong_url(url_form, "the SMTP URL names more than one server"));
    SmtpSinkOptions options;
    options.server = url.scheme + "://" + url.servers.front().text();
    options.user = url.user.value_or("");
    options.password = url.password.value_or("");
    Letterhead& head = options.letterhead;
    UrlSettings known;
    known.add("to", "the mail address of a reader", [&head](const std::string& value) {
        head.to.push_back(value);
        return !value.empty();
    });
    known.text("from", head.from).text("ca", options.ca_file).text("source", head.event.source);
    known.choice<Mode>("mode", {{"binary", Mode::binary}, {"structured", Mode::structured}}, head.mode);
    known.choice<Tls>("tls", {{"required", Tls::required}, {"none", Tls::none}}, options.tls);
    SEMEL_TRY(known.read(url.settings, url_form.name));
    return options;
}

}  // namespace semel::smtp
