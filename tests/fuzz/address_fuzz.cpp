// Whatever stands in for the address of a database, a broker or a mail server: it is taken apart or refused, and a refusal
// does not repeat a password.
#include "semel/base/result.hpp"
#include "semel/http/url.hpp"
#include "semel/kafka/url.hpp"
#include "semel/nats/sink.hpp"
#include "semel/nats/source.hpp"
#include "semel/postgres/connection_string.hpp"
#include "semel/rabbitmq/sink.hpp"
#include "semel/rabbitmq/source.hpp"
#include "semel/smtp/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view secret = "geheimes-passwort";

template <class T>
void keeps_the_secret(const semel::Result<T>& parsed) {
    SEMEL_ASSERT(parsed || parsed.error().describe().find(secret) == std::string::npos);
}

void read_address(const std::string& text) {
    keeps_the_secret(semel::postgres::parse_connection_string(text));
    keeps_the_secret(semel::kafka::sink_options(text));
    keeps_the_secret(semel::kafka::source_options(text));
    keeps_the_secret(semel::nats::sink_options(text));
    keeps_the_secret(semel::nats::source_options(text));
    keeps_the_secret(semel::rabbitmq::sink_options(text));
    keeps_the_secret(semel::rabbitmq::source_options(text));
    keeps_the_secret(semel::smtp::sink_options(text));
    static_cast<void>(semel::http::parse_url(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    read_address(text);
    // The same with a password where the input has its first colon behind "//".
    const std::size_t slashes = text.find("//");
    if (slashes != std::string::npos) {
        text.insert(slashes + 2, "me:" + std::string(secret) + "@");
        read_address(text);
    }
    return 0;
}
