#pragma once

#include "tests/orders/http_client.hpp"
#include "tests/orders/model.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace orders::model {

// How the model looks over HTTP: what is sent for a command, and what the service says of a thing.

using testing::HttpRequest;

/// "/api/v1/quotes/ID"; one that does not exist has an id all the same.
[[nodiscard]] std::string path_of(const Model& model, Kind kind, std::optional<std::size_t> thing);
[[nodiscard]] HttpRequest request_of(const Model& model, const Asked& asked, const std::string& key);

// As far as the model knows it. A null stands for a member that must not be there.
[[nodiscard]] nlohmann::json json_of(const Model& model, Kind kind, std::size_t index);
[[nodiscard]] nlohmann::json json_of(const Approval& approval);
/// What a command that was done is answered with.
[[nodiscard]] nlohmann::json reply_to(const Model& model, const Asked& asked);

/// Where `actual` is not as `expected`; empty: nowhere. Members that are not expected may be there. Lists of texts
/// have no order.
[[nodiscard]] std::string difference(const nlohmann::json& expected, const nlohmann::json& actual,
                                     const std::string& where = "");

/// Whether the sums of a quote or an order are those of its items, and net and tax make gross.
[[nodiscard]] bool adds_up(const nlohmann::json& thing);

}  // namespace orders::model
