#pragma once

#include "apps/orders/domain/refusal.hpp"
#include "apps/orders/http/page.hpp"
#include "semel/command/command.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"

#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orders {

// From what was decided to what a client gets: the one place that knows statuses.

/// 201 with Location, and ETag where there is one.
[[nodiscard]] semel::Reply created(std::string body, std::string location, std::string etag = {});
/// 200 of a command: the thing as it is now.
[[nodiscard]] semel::Reply done(std::string body, std::string etag);
/// 200 of a command: what was there already.
[[nodiscard]] semel::Reply existing(std::string body, std::string location);

/// What a Refusal that is Unacceptable is to a client, for the description of a route.
inline constexpr semel::http::ProblemKind unacceptable{semel::http::problems::validation_failed.code, 422,
                                                       semel::http::problems::validation_failed.title};

/// A refusal of a command: nothing of it is kept, and a repeat is decided anew.
[[nodiscard]] semel::Rejection reject(const semel::http::Problem& problem, const semel::http::Request& request);
[[nodiscard]] semel::http::Problem problem_of(const Refusal& refusal);
/// The same, of a command on one of this kind: an ETag of another kind would be taken for its own.
[[nodiscard]] semel::http::Problem problem_of(const Refusal& refusal, std::string_view kind);

/// The id in the path; the 400 if it is none.
[[nodiscard]] tl::expected<semel::Uuid, semel::http::Problem> id_in(const semel::http::Request& request,
                                                                    std::string_view variable);

/// 200 of a read.
[[nodiscard]] semel::http::Response found(std::string body);
[[nodiscard]] semel::http::Response problem_response(const semel::http::Problem& problem,
                                                     const semel::http::Request& request);
[[nodiscard]] semel::http::Response no_such(std::string_view kind, const semel::http::Request& request);
/// What a failed read is to a client; what the database said goes to the log.
[[nodiscard]] semel::http::Response unreadable(const semel::Error& error, const semel::http::Request& request);

/// The cursor behind a page that was read with one entry more than asked for; drops that entry.
template <class T>
[[nodiscard]] std::optional<std::string> next_cursor(std::vector<T>& entries, const Slice& slice,
                                                     Collection collection) {
    if (entries.size() < static_cast<std::size_t>(slice.limit)) return std::nullopt;
    entries.pop_back();
    return cursor_behind(collection, entries.back().id);
}

}  // namespace orders
