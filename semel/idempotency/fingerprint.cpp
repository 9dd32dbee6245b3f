#include "semel/idempotency/fingerprint.hpp"

#include "semel/base/canon.hpp"
#include "semel/base/media_type.hpp"
#include "semel/base/multipart.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace semel {
namespace {

/// What is hashed, in this order. Every text has its length before it and every list its count, so that no two
/// contents give the same bytes: tag, operation, path, query, kind of body, and by kind
///   none       nothing more;
///   json       media type, canonical form;
///   multipart  media type, the parts;
///   bytes      media type, the body.
constexpr std::string_view tag = "semel fingerprint 1";
static_assert(fingerprint_version == 1, "a new version has a tag of its own");

void add_text(Sha256& hash, std::string_view text) { hash.add_part(bytes_of(text)); }

void add_count(Sha256& hash, std::size_t count) {
    std::array<std::byte, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(static_cast<std::uint64_t>(count) >> (56 - 8 * i));
    hash.add(bytes);
}

/// By name; those of one name in the order they came in.
void add_sorted(Sha256& hash, std::span<const NamedValue> values) {
    add_count(hash, values.size());
    std::vector<const NamedValue*> sorted;
    sorted.reserve(values.size());
    for (const NamedValue& value : values) sorted.push_back(&value);
    std::ranges::sort(sorted, {}, [](const NamedValue* value) { return std::pair(value->name, value); });
    for (const NamedValue* value : sorted) {
        add_text(hash, value->name);
        add_text(hash, value->value);
    }
}

bool names_differ(std::span<const NamedValue> values) {
    for (auto one = values.begin(); one != values.end(); ++one)
        if (std::any_of(values.begin(), one, [&](const NamedValue& other) { return other.name == one->name; }))
            return false;
    return true;
}

Status add_json(Sha256& hash, std::string_view body) {
    JsonCanonicaliser& canonicaliser = JsonCanonicaliser::of_this_thread();
    const auto canonical = canonicaliser.canonical(body);
    if (canonical) add_text(hash, *canonical);
    canonicaliser.trim();
    if (!canonical) return fail(canonical.error());
    return {};
}

Status add_multipart(Sha256& hash, std::string_view content_type, std::string_view body) {
    const auto boundary = media_type_parameter(content_type, "boundary");
    const auto parts = SEMEL_TRY(multipart_parts(body, boundary.value_or(std::string())));
    add_count(hash, parts.size());
    for (const std::string_view part : parts) add_text(hash, part);
    return {};
}

Status add_body(Sha256& hash, std::string_view content_type, std::string_view body) {
    if (body.empty()) {
        add_text(hash, "none");
        return {};
    }
    const std::string essence = media_type_essence(content_type);
    const bool json = is_json(essence);
    const bool multipart = is_multipart(essence);
    add_text(hash, json ? "json" : multipart ? "multipart" : "bytes");
    add_text(hash, essence);
    if (json) return add_json(hash, body);
    if (multipart) return add_multipart(hash, content_type, body);
    add_text(hash, body);
    return {};
}

}  // namespace

Result<Fingerprint> fingerprint(const RequestContent& content) {
    SEMEL_ASSERT(names_differ(content.path) && "two path variables of one name");
    Sha256 hash;
    add_text(hash, tag);
    add_text(hash, content.operation);
    add_sorted(hash, content.path);
    add_sorted(hash, content.query);
    if (auto added = add_body(hash, content.media_type, content.body); !added)
        return fail(std::move(added).error().within("fingerprint"));
    return Fingerprint{.version = fingerprint_version, .digest = std::move(hash).finish()};
}

}  // namespace semel
