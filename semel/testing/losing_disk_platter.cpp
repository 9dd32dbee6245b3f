#include "semel/testing/losing_disk_platter.hpp"

#include "semel/base/assert.hpp"

#include <algorithm>

namespace semel::testing {
namespace {

void write_bytes(std::string& content, std::uint64_t at, std::string_view bytes) {
    content.resize(std::max<std::size_t>(content.size(), at + bytes.size()));
    content.replace(at, bytes.size(), bytes);
}

void change_names(std::map<std::string, std::size_t>& names, const DiskOperation& operation) {
    if (operation.kind == DiskOperation::Kind::create)
        names[operation.name] = operation.file;
    else
        names.erase(operation.name);
}

/// Calls `visit` with the number of each sector that the write touches, and what it writes there.
template <class F>
void for_each_sector(const DiskOperation& write, F&& visit) {
    std::uint64_t at = write.at;
    std::string_view bytes = write.bytes;
    while (!bytes.empty()) {
        const std::uint64_t number = at / Platter::sector;
        const std::string_view piece = bytes.substr(0, (number + 1) * Platter::sector - at);
        visit(number, at, piece);
        at += piece.size();
        bytes.remove_prefix(piece.size());
    }
}

}  // namespace

void Platter::apply(const DiskOperation& operation) {
    using Kind = DiskOperation::Kind;
    switch (operation.kind) {
        case Kind::create:
            SEMEL_ASSERT(!files_.contains(operation.file) && "a new file has a new number");
            files_[operation.file] = {};
            unsynced_names_.push_back(operation);
            break;
        case Kind::remove: unsynced_names_.push_back(operation); break;
        case Kind::write:
        case Kind::truncate: files_.at(operation.file).unsynced.push_back(operation); break;
        case Kind::sync: {
            File& file = files_.at(operation.file);
            for (const DiskOperation& change : file.unsynced) {
                if (change.kind == Kind::write)
                    write_bytes(file.synced, change.at, change.bytes);
                else
                    file.synced.resize(change.at);
            }
            file.unsynced.clear();
            break;
        }
        case Kind::sync_in_vain: files_.at(operation.file).unsynced.clear(); break;
        case Kind::sync_directory:
            for (const DiskOperation& change : unsynced_names_) change_names(names_, change);
            unsynced_names_.clear();
            break;
    }
}

DiskImage Platter::durable() const {
    DiskImage image;
    for (const auto& [name, file] : names_) image.emplace(name, files_.at(file).synced);
    return image;
}

DiskImage Platter::torn(Random& random) const {
    auto names = names_;
    // File systems keep a journal of names, hence their order.
    const std::size_t changed = random.below(unsynced_names_.size() + 1);
    for (std::size_t i = 0; i < changed; ++i) change_names(names, unsynced_names_[i]);
    DiskImage image;
    for (const auto& [name, file] : names) image.emplace(name, torn(files_.at(file), random));
    return image;
}

std::string Platter::torn(const File& file, Random& random) {
    using Kind = DiskOperation::Kind;
    std::map<std::uint64_t, std::uint64_t> writes_kept;  // By sector.
    std::uint64_t truncations_kept = 0;
    for (const DiskOperation& change : file.unsynced) {
        if (change.kind == Kind::truncate) ++truncations_kept;
        if (change.kind == Kind::write)
            for_each_sector(change, [&](std::uint64_t number, auto...) { ++writes_kept[number]; });
    }
    // From a disk that has written nothing whole yet to one that has written everything.
    constexpr std::uint64_t always = 4;
    const std::uint64_t tendency = random.below(always + 1);
    for (auto& [number, writes] : writes_kept)
        if (random.below(always) >= tendency) writes = random.below(writes);
    truncations_kept = random.below(truncations_kept + 1);

    std::string content = file.synced;
    for (const DiskOperation& change : file.unsynced) {
        if (change.kind == Kind::truncate && truncations_kept > 0) {
            --truncations_kept;
            content.resize(change.at);
        }
        if (change.kind == Kind::write) {
            for_each_sector(change, [&](std::uint64_t number, std::uint64_t at, std::string_view piece) {
                std::uint64_t& left = writes_kept[number];
                if (left == 0) return;
                --left;
                write_bytes(content, at, piece);
            });
        }
    }
    return content;
}

}  // namespace semel::testing
