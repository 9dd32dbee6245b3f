// Whatever bytes come in as the head of a request: it is refused, or every part of it is what HTTP allows.
#include "semel/base/result.hpp"
#include "semel/http/head.hpp"
#include "semel/http/idempotency_header.hpp"
#include "semel/http/target.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    semel::http::HeadScan scan;
    const semel::http::HeadScan::Limits limits{.first_line = 2048, .head = 4096, .fields = 64};
    if (scan.scan(text, limits) == semel::http::HeadScan::Verdict::complete) {
        SEMEL_ASSERT(scan.begin() < scan.end() && scan.end() <= size);
        const std::string_view head = text.substr(scan.begin(), scan.end() - scan.begin());
        semel::http::Request request;
        if (semel::http::parse_request_head(head, request)) {
            SEMEL_ASSERT(!request.method.empty());
            for (const auto& field : request.headers)
                SEMEL_ASSERT(semel::http::is_field_name(field.name) && semel::http::is_field_value(field.value));
        }
        semel::http::Response response;
        static_cast<void>(semel::http::parse_response_head(head, false, response));
    }
    static_cast<void>(semel::http::parse_target(text));
    if (const auto key = semel::http::parse_idempotency_key(text)) {
        SEMEL_ASSERT(!key->empty() && key->size() <= size);
        for (const char c : *key) SEMEL_ASSERT(c >= 0x20 && c < 0x7f);
    }
    return 0;
}
