#pragma once

#include "semel/base/time.hpp"
#include "semel/idempotency/fingerprint.hpp"
#include "semel/idempotency/reply.hpp"

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace semel {

/// Finished replies in memory, so that a repeat need not ask the database. A finished reply never changes, so what
/// is here is right; what is not here means nothing. Filled only after COMMIT was acknowledged (and is replicated,
/// where that is asked), kept no longer than the record, bounded in bytes, least recently used goes first.
/// Whoever asks has been authorised already. Thread-safe.
class ReplyCache {
public:
    /// 0 bytes: keeps nothing.
    ReplyCache(std::size_t bytes_max, const Clock& clock);

    /// Whether there is a reply under this identity, for any request.
    [[nodiscard]] bool holds(const Digest& identity);
    [[nodiscard]] std::shared_ptr<const Reply> find(const Digest& identity, const Fingerprint& fingerprint);
    void put(const Digest& identity, const Fingerprint& fingerprint, std::shared_ptr<const Reply> reply,
             Duration keep_for);

    [[nodiscard]] std::size_t bytes() const;

private:
    struct Entry {
        Digest identity;
        Fingerprint fingerprint;
        std::shared_ptr<const Reply> reply;
        Instant until;
        std::size_t bytes;
    };
    struct Hash {
        std::size_t operator()(const Digest& digest) const noexcept;
    };
    /// A part of the cache with a lock of its own.
    struct Shard {
        mutable std::mutex mutex;
        std::list<Entry> entries;  ///< Most recently used first.
        std::unordered_map<Digest, std::list<Entry>::iterator, Hash> by_identity;
        std::size_t bytes = 0;

        void remove(std::list<Entry>::iterator entry);
    };
    [[nodiscard]] Shard& shard(const Digest& identity) noexcept;

    static constexpr std::size_t shard_count = 16;
    std::size_t shard_bytes_max_;
    const Clock* clock_;
    std::array<Shard, shard_count> shards_;
};

}  // namespace semel
