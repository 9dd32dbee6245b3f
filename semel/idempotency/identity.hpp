#pragma once

#include "semel/base/digest.hpp"
#include "semel/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel {

/// One part of a command's identity. Parts are types of their own, so that none can be left out or swapped, and
/// a key by itself identifies nothing: the same key of two tenants is two commands.
template <class Tag>
class IdentityPart {
public:
    /// Refuses what is empty, longer than `Tag::size_max`, or not printable ASCII.
    [[nodiscard]] static Result<IdentityPart> of(std::string_view text);
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    friend bool operator==(const IdentityPart&, const IdentityPart&) = default;

private:
    explicit IdentityPart(std::string_view text) : text_(text) {}
    std::string text_;
};

struct TenantTag {
    static constexpr std::string_view name = "tenant";
    static constexpr std::size_t size_max = 64;
};
struct CallerTag {
    static constexpr std::string_view name = "caller";
    static constexpr std::size_t size_max = 128;
};
struct OperationTag {
    static constexpr std::string_view name = "operation";
    static constexpr std::size_t size_max = 128;
};
struct KeyTag {
    static constexpr std::string_view name = "idempotency key";
    static constexpr std::size_t size_max = 255;
};
using Tenant = IdentityPart<TenantTag>;
using Caller = IdentityPart<CallerTag>;
using Operation = IdentityPart<OperationTag>;
using Key = IdentityPart<KeyTag>;

/// Who asked for what, under which key. A retry never gets another one.
class Identity {
public:
    Identity(Tenant tenant, Caller caller, Operation operation, Key key);

    /// From plain texts: the same, with the first bad part named in the Error (`rejected`).
    [[nodiscard]] static Result<Identity> of(std::string_view tenant, std::string_view caller,
                                             std::string_view operation, std::string_view key);

    [[nodiscard]] const std::string& tenant() const noexcept { return tenant_.text(); }
    [[nodiscard]] const std::string& caller() const noexcept { return caller_.text(); }
    [[nodiscard]] const std::string& operation() const noexcept { return operation_.text(); }
    [[nodiscard]] const std::string& key() const noexcept { return key_.text(); }

    /// SHA-256 over the length-prefixed parts: the primary key of the command's record.
    [[nodiscard]] const Digest& digest() const noexcept { return digest_; }
    /// Of the advisory lock that whoever executes the command holds.
    [[nodiscard]] std::int64_t lock() const;
    /// `cmd_` and the first 16 bytes of the digest in hexadecimal: what a client may ask about later.
    [[nodiscard]] std::string command_id() const;

private:
    Tenant tenant_;
    Caller caller_;
    Operation operation_;
    Key key_;
    Digest digest_;
};

/// The first 16 bytes of an identity, from a command's id. Anything else is an Error (`rejected`).
[[nodiscard]] Result<Bytes> parse_command_id(std::string_view id);

}  // namespace semel
