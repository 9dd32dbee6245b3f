#pragma once

#include "apps/orders/http/answer.hpp"
#include "apps/orders/http/etag.hpp"

#include <string>

namespace orders {

/// 200 of a read of something that has versions; 304 if the client has this one already.
[[nodiscard]] inline semel::http::Response found_tagged(std::string body, const std::string& etag,
                                                        const semel::http::Request& request) {
    semel::http::Response response =
        is_unchanged(request, etag) ? semel::http::Response{.status = 304} : found(std::move(body));
    response.headers.set("ETag", etag);
    return response;
}

}  // namespace orders
