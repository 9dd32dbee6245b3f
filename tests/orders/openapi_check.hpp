#pragma once

#include "tests/orders/http_client.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace orders::testing {

/// A route as the document tells of it.
struct DescribedRoute {
    std::string method;  ///< "POST"
    std::string path;    ///< "/api/v1/quotes/{id}/submit"
    std::string operation_id;
    bool is_keyed = false;    ///< It takes an Idempotency-Key.
    bool is_guarded = false;  ///< It takes an If-Match.
    bool takes_body = false;  ///< Its body has members.
    bool has_ids = false;     ///< The variables of its path are UUIDs.
    bool is_collection = false;
    std::vector<std::string> filters{};
    std::set<int> successes{};  ///< 304 is one of them.

    /// Its path with this for each variable.
    [[nodiscard]] std::string path_with(const std::string& value) const;
};

/// Holds what the service does against what it says of itself in /openapi.json. Thread-safe.
class OpenApiCheck {
public:
    explicit OpenApiCheck(const std::string& document);
    ~OpenApiCheck();

    /// The checker of a service that listens there; one for each document, however often it is started.
    [[nodiscard]] static std::shared_ptr<OpenApiCheck> of_service(int port);

    /// What the document does not allow: the status, the media type, the body or the fields of a reply; and a request
    /// that succeeded although the document forbids it. Empty: nothing.
    [[nodiscard]] std::string complaint(const HttpRequest& request, const HttpResponse& response);

    [[nodiscard]] const std::vector<DescribedRoute>& routes() const noexcept;
    /// "POST /api/v1/quotes 201", for each success that the document names and nobody has met since `forget`.
    [[nodiscard]] std::vector<std::string> unseen_successes() const;
    void forget();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orders::testing
