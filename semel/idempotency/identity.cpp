#include "semel/idempotency/identity.hpp"

#include "semel/base/mutant.hpp"
#include "semel/db/lock_key.hpp"

#include <algorithm>

namespace semel {
namespace {

constexpr std::string_view command_prefix = "cmd_";
constexpr std::size_t command_id_bytes = 16;

Digest digest_of(const Tenant& tenant, const Caller& caller, const Operation& operation, const Key& key) {
    Sha256 sha;
    sha.add_part(bytes_of("semel.identity"));
    if (!SEMEL_MUTANT("identity_without_tenant")) sha.add_part(bytes_of(tenant.text()));
    for (const std::string* part : {&caller.text(), &operation.text(), &key.text()}) sha.add_part(bytes_of(*part));
    return std::move(sha).finish();
}

int nibble(char digit) noexcept {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

}  // namespace

template <class Tag>
Result<IdentityPart<Tag>> IdentityPart<Tag>::of(std::string_view text) {
    const auto refused = [](const std::string& why) {
        return fail(Fault::rejected, "the " + std::string(Tag::name) + why);
    };
    if (text.empty()) return refused(" is empty");
    if (text.size() > Tag::size_max) return refused(" is longer than " + std::to_string(Tag::size_max) + " characters");
    const bool printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
    if (!printable) return refused(" may hold printable ASCII characters only");
    return IdentityPart(text);
}

template class IdentityPart<TenantTag>;
template class IdentityPart<CallerTag>;
template class IdentityPart<OperationTag>;
template class IdentityPart<KeyTag>;

Identity::Identity(Tenant tenant, Caller caller, Operation operation, Key key)
    : tenant_(std::move(tenant)),
      caller_(std::move(caller)),
      operation_(std::move(operation)),
      key_(std::move(key)),
      digest_(digest_of(tenant_, caller_, operation_, key_)) {}

std::int64_t Identity::lock() const { return lock_key("semel.claim", digest_); }

Result<Identity> Identity::of(std::string_view tenant, std::string_view caller, std::string_view operation,
                              std::string_view key) {
    return Identity(SEMEL_TRY(Tenant::of(tenant)), SEMEL_TRY(Caller::of(caller)), SEMEL_TRY(Operation::of(operation)),
                    SEMEL_TRY(Key::of(key)));
}

std::string Identity::command_id() const {
    return std::string(command_prefix) + hex(BytesView(digest_).first(command_id_bytes));
}

Result<Bytes> parse_command_id(std::string_view id) {
    const auto refused = [] {
        return fail(Fault::rejected, "a command's id is cmd_ followed by 32 hexadecimal digits in lower case");
    };
    if (!id.starts_with(command_prefix)) return refused();
    id.remove_prefix(command_prefix.size());
    if (id.size() != command_id_bytes * 2) return refused();
    Bytes bytes;
    for (std::size_t i = 0; i < id.size(); i += 2) {
        const int high = nibble(id[i]);
        const int low = nibble(id[i + 1]);
        if (high < 0 || low < 0) return refused();
        bytes.push_back(static_cast<std::byte>(high * 16 + low));
    }
    return bytes;
}

}  // namespace semel
