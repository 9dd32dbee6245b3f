#include "semel/command/reply_cache.hpp"

#include "semel/base/mutant.hpp"

#include <algorithm>
#include <cstring>

namespace semel {
namespace {

std::size_t size_of(const Reply& reply) noexcept {
    constexpr std::size_t bookkeeping = 256;  // List and map nodes, digests, the shared pointer.
    std::size_t size = bookkeeping + reply.body.size();
    for (const ReplyHeader& header : reply.headers) size += sizeof header + header.name.size() + header.value.size();
    return size;
}

}  // namespace

std::size_t ReplyCache::Hash::operator()(const Digest& digest) const noexcept {
    std::size_t hash = 0;  // A digest is as good as any hash of it.
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
}

void ReplyCache::Shard::remove(std::list<Entry>::iterator entry) {
    bytes -= entry->bytes;
    by_identity.erase(entry->identity);
    entries.erase(entry);
}

ReplyCache::ReplyCache(std::size_t bytes_max, const Clock& clock)
    : shard_bytes_max_(bytes_max / shard_count), clock_(&clock) {}

ReplyCache::Shard& ReplyCache::shard(const Digest& identity) noexcept {
    return shards_[std::to_integer<std::size_t>(identity.back()) % shard_count];
}

bool ReplyCache::holds(const Digest& identity) {
    const Shard& part = shard(identity);
    const std::lock_guard guard(part.mutex);
    return part.by_identity.contains(identity);
}

std::shared_ptr<const Reply> ReplyCache::find(const Digest& identity, const Fingerprint& fingerprint) {
    if (shard_bytes_max_ == 0) return nullptr;  // Holds nothing, so nobody need meet at its locks.
    Shard& part = shard(identity);
    const std::lock_guard guard(part.mutex);
    const auto found = part.by_identity.find(identity);
    if (found == part.by_identity.end()) return nullptr;
    const auto entry = found->second;
    if (entry->until <= clock_->now()) {
        part.remove(entry);
        return nullptr;
    }
    if (entry->fingerprint != fingerprint && !SEMEL_MUTANT("cache_without_fingerprint")) return nullptr;
    part.entries.splice(part.entries.begin(), part.entries, entry);
    return entry->reply;
}

void ReplyCache::put(const Digest& identity, const Fingerprint& fingerprint, std::shared_ptr<const Reply> reply,
                     Duration keep_for) {
    const std::size_t bytes = size_of(*reply);
    if (bytes > shard_bytes_max_ || keep_for <= Duration::zero()) return;
    const Instant now = clock_->now();
    const Instant until = keep_for >= Instant::max() - now ? Instant::max() : now + keep_for;
    Shard& part = shard(identity);
    const std::lock_guard guard(part.mutex);
    if (const auto found = part.by_identity.find(identity); found != part.by_identity.end()) part.remove(found->second);
    while (part.bytes + bytes > shard_bytes_max_) part.remove(std::prev(part.entries.end()));
    part.entries.push_front(
        {.identity = identity, .fingerprint = fingerprint, .reply = std::move(reply), .until = until, .bytes = bytes});
    part.by_identity.emplace(identity, part.entries.begin());
    part.bytes += bytes;
}

std::size_t ReplyCache::bytes() const {
    std::size_t total = 0;
    for (const Shard& part : shards_) {
        const std::lock_guard guard(part.mutex);
        total += part.bytes;
    }
    return total;
}

}  // namespace semel
