#pragma once

#include "semel/base/result.hpp"
#include "semel/http/client.hpp"
#include "semel/retry/deadline.hpp"

#include <boost/asio/awaitable.hpp>

namespace semel::http {

/// `Client::send` for coroutines: the same decisions, without blocking the caller's event loop. The
/// client must outlive the coroutine.
[[nodiscard]] boost::asio::awaitable<Result<Response>> send_coroutine(Client& client, ClientRequest request,
                                                                      Deadline deadline = Deadline::never());

}  // namespace semel::http
