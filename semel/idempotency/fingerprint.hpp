#pragma once

#include "semel/base/digest.hpp"
#include "semel/base/result.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace semel {

/// One named part of a request's address: a path variable or a query parameter.
struct NamedValue {
    std::string_view name;
    std::string_view value;
};

/// What makes two requests with the same key the same request. No headers: correlation ids, dates and
/// If-Match differ between a request and its retry.
struct RequestContent {
    std::string_view operation;
    std::span<const NamedValue> path{};   ///< In any order; names are unique.
    std::span<const NamedValue> query{};  ///< In any order of names; values of one name keep theirs.
    /// As in Content-Type. Its parameters do not count; of a multipart type the boundary is needed to find the parts.
    std::string_view media_type{};
    /// Empty: there is none, and the media type does not count either. On the wire an empty body and no body often
    /// look the same, and a proxy may turn one into the other between a request and its retry.
    std::string_view body{};
};

/// SHA-256 over a request's canonical content. The version names the rules by which it was made, so that
/// records written under older rules go on being compared by them.
struct Fingerprint {
    std::uint8_t version = 0;
    Digest digest{};
    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

inline constexpr std::uint8_t fingerprint_version = 1;

/// The fingerprint of a request, from any thread. Two path variables of one name are a programmer's error.
///
/// - A JSON body (`application/json`, `…+json`) counts in its canonical form (see `canonical_json`).
/// - A multipart body counts part by part, headers of the parts included; the boundary, which senders draw anew for
///   each attempt, does not. A boundary inside a part (multipart within multipart) does.
/// - Any other body counts byte by byte.
///
/// A JSON body without a canonical form, and a multipart body without a boundary or with parts that cannot be told
/// apart, is an Error (`rejected`) that names reason and place and repeats nothing of the body.
[[nodiscard]] Result<Fingerprint> fingerprint(const RequestContent& content);

}  // namespace semel
