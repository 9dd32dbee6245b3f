#include "semel/testing/losing_disk.hpp"

#include "semel/base/assert.hpp"

#include <sqlite3.h>

#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace semel::testing {

/// One layer over the system's own file system. What SQLite calls is at the end.
class LosingDisk::Shim {
public:
    explicit Shim(Syncs syncs) : syncs_(syncs) {
        static std::atomic<int> made = 0;
        name_ = "semel_losing_" + std::to_string(++made);
        vfs_.base = *base();
        vfs_.base.zName = name_.c_str();
        vfs_.base.pNext = nullptr;
        vfs_.base.szOsFile = static_cast<int>(sizeof(File)) + base()->szOsFile;
        vfs_.base.xOpen = open;
        vfs_.base.xDelete = remove;
        vfs_.shim = this;
        SEMEL_ASSERT(sqlite3_vfs_register(&vfs_.base, 0) == SQLITE_OK);
    }
    ~Shim() { sqlite3_vfs_unregister(&vfs_.base); }
    Shim(const Shim&) = delete;
    Shim& operator=(const Shim&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    void fail(const DiskFailure& failure) {
        const std::lock_guard guard(mutex_);
        failure_ = failure;
    }
    void freeze(bool frozen) {
        const std::lock_guard guard(mutex_);
        frozen_ = frozen;
    }
    [[nodiscard]] std::size_t steps() const {
        const std::lock_guard guard(mutex_);
        return steps_;
    }
    [[nodiscard]] std::vector<DiskOperation> operations() const {
        const std::lock_guard guard(mutex_);
        return done_;
    }
    [[nodiscard]] std::size_t now() const {
        const std::lock_guard guard(mutex_);
        return done_.size();
    }

private:
    using Kind = DiskOperation::Kind;

    /// SQLite knows the first member only.
    struct Vfs {
        sqlite3_vfs base;
        Shim* shim;
    };
    struct File {
        sqlite3_file base;
        Shim* shim;
        std::size_t number;  ///< 0: a temporary file, which no restart looks for.
        int flags;
        bool sync_directory;  ///< With its next sync, as the system's own layer does for a new journal.
        [[nodiscard]] sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };
    static constexpr int kept_files =
        SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
    static constexpr int journals = kept_files & ~SQLITE_OPEN_MAIN_DB;

    static sqlite3_vfs* base() { return sqlite3_vfs_find(nullptr); }
    static Shim& of(sqlite3_vfs* vfs) { return *reinterpret_cast<Vfs*>(vfs)->shim; }
    static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
    static sqlite3_file* in(sqlite3_file* file) { return of(file).inner(); }
    static std::string name_of(const char* path) { return std::filesystem::path(path).filename().string(); }

    /// Counts a step; true: it is to fail.
    bool fails(Kind kind) {
        ++steps_;
        const bool struck = failure_.first != 0 && steps_ >= failure_.first && steps_ - failure_.first < failure_.count;
        const bool takes_room = kind == Kind::write || kind == Kind::create;
        return struck && (failure_.why == DiskFailure::Why::broken || takes_room);
    }

    int open_file(const char* path, sqlite3_file* file, int flags, int* out_flags) {
        const std::lock_guard guard(mutex_);
        const bool kept = path != nullptr && (flags & kept_files) != 0;
        // Not by xAccess, for which an empty file is none.
        const bool creates = kept && (flags & SQLITE_OPEN_CREATE) != 0 && !std::filesystem::exists(path);
        file->pMethods = nullptr;
        if (creates && fails(Kind::create)) return SQLITE_CANTOPEN;
        new (file) File{.base = {}, .shim = this, .number = 0, .flags = flags, .sync_directory = false};
        const int code = base()->xOpen(base(), path, in(file), flags, out_flags);
        static const sqlite3_io_methods methods = make_methods();
        file->pMethods = in(file)->pMethods != nullptr ? &methods : nullptr;
        if (code != SQLITE_OK || !kept) return code;
        if (creates) {
            live_[name_of(path)] = ++files_;
            done_.push_back({.kind = Kind::create, .file = files_, .name = name_of(path)});
        }
        SEMEL_ASSERT(live_.contains(name_of(path)) && "only what was made on this disk can be lost by it");
        of(file).number = live_[name_of(path)];
        of(file).sync_directory = (flags & journals) != 0 && (flags & SQLITE_OPEN_CREATE) != 0;
        return code;
    }

    int remove_file(const char* path, int sync_directory) {
        const std::lock_guard guard(mutex_);
        const auto found = live_.find(name_of(path));
        if (found == live_.end()) return base()->xDelete(base(), path, sync_directory);
        if (frozen_ || fails(Kind::remove)) return SQLITE_IOERR_DELETE;
        // Its own sync of the directory would cost time and prove nothing: what is durable is decided here.
        const int code = base()->xDelete(base(), path, 0);
        if (code != SQLITE_OK) return code;
        done_.push_back({.kind = Kind::remove, .file = found->second, .name = found->first});
        live_.erase(found);
        if (sync_directory != 0) note_directory_sync();
        return code;
    }

    int write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 at) {
        if (of(file).number == 0) return in(file)->pMethods->xWrite(in(file), from, bytes, at);
        const std::lock_guard guard(mutex_);
        if (frozen_) return SQLITE_IOERR_WRITE;
        const bool struck = fails(Kind::write);
        const int arrive = struck ? bytes / 2 : bytes;
        const int code = in(file)->pMethods->xWrite(in(file), from, arrive, at);
        if (code != SQLITE_OK) return code;
        done_.push_back({.kind = Kind::write,
                         .file = of(file).number,
                         .at = static_cast<std::uint64_t>(at),
                         .bytes = std::string(static_cast<const char*>(from), static_cast<std::size_t>(arrive))});
        if (!struck) return SQLITE_OK;
        return failure_.why == DiskFailure::Why::full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }

    int truncate(sqlite3_file* file, sqlite3_int64 size) {
        if (of(file).number == 0) return in(file)->pMethods->xTruncate(in(file), size);
        const std::lock_guard guard(mutex_);
        if (frozen_ || fails(Kind::truncate)) return SQLITE_IOERR_TRUNCATE;
        const int code = in(file)->pMethods->xTruncate(in(file), size);
        if (code == SQLITE_OK)
            done_.push_back({.kind = Kind::truncate, .file = of(file).number, .at = static_cast<std::uint64_t>(size)});
        return code;
    }

    int sync(sqlite3_file* file) {
        if (of(file).number == 0) return SQLITE_OK;
        const std::lock_guard guard(mutex_);
        if (frozen_) return SQLITE_IOERR_FSYNC;
        if (fails(Kind::sync)) {
            done_.push_back({.kind = Kind::sync_in_vain, .file = of(file).number});
            return SQLITE_IOERR_FSYNC;
        }
        const bool log = (of(file).flags & SQLITE_OPEN_WAL) != 0;
        const bool database = (of(file).flags & SQLITE_OPEN_MAIN_DB) != 0;
        const bool lies = syncs_ == Syncs::none || (log && syncs_ == Syncs::not_of_log) ||
                          (database && syncs_ == Syncs::not_of_database);
        if (!lies) done_.push_back({.kind = Kind::sync, .file = of(file).number});
        if (std::exchange(of(file).sync_directory, false)) note_directory_sync();
        return SQLITE_OK;
    }

    void note_directory_sync() {
        if (syncs_ != Syncs::none && syncs_ != Syncs::not_of_directory) done_.push_back({.kind = Kind::sync_directory});
    }

    static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
        return of(vfs).open_file(path, file, flags, out_flags);
    }
    static int remove(sqlite3_vfs* vfs, const char* path, int sync_directory) {
        return of(vfs).remove_file(path, sync_directory);
    }

    /// Version 2: with shared memory, without mapped reads, so that every write is seen.
    static sqlite3_io_methods make_methods() {
        sqlite3_io_methods m{};
        m.iVersion = 2;
        m.xClose = [](sqlite3_file* f) { return in(f)->pMethods->xClose(in(f)); };
        m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
            return in(f)->pMethods->xRead(in(f), to, n, at);
        };
        m.xWrite = [](sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
            return of(f).shim->write(f, from, n, at);
        };
        m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) { return of(f).shim->truncate(f, size); };
        m.xSync = [](sqlite3_file* f, int) { return of(f).shim->sync(f); };
        m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return in(f)->pMethods->xFileSize(in(f), size); };
        m.xLock = [](sqlite3_file* f, int level) { return in(f)->pMethods->xLock(in(f), level); };
        m.xUnlock = [](sqlite3_file* f, int level) { return in(f)->pMethods->xUnlock(in(f), level); };
        m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
            return in(f)->pMethods->xCheckReservedLock(in(f), out);
        };
        m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
            return in(f)->pMethods->xFileControl(in(f), op, arg);
        };
        m.xSectorSize = [](sqlite3_file* f) { return in(f)->pMethods->xSectorSize(in(f)); };
        m.xDeviceCharacteristics = [](sqlite3_file* f) { return in(f)->pMethods->xDeviceCharacteristics(in(f)); };
        m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** to) {
            return in(f)->pMethods->xShmMap(in(f), page, size, extend, to);
        };
        m.xShmLock = [](sqlite3_file* f, int at, int n, int flags) {
            return in(f)->pMethods->xShmLock(in(f), at, n, flags);
        };
        m.xShmBarrier = [](sqlite3_file* f) { in(f)->pMethods->xShmBarrier(in(f)); };
        m.xShmUnmap = [](sqlite3_file* f, int removes) { return in(f)->pMethods->xShmUnmap(in(f), removes); };
        return m;
    }

    Syncs syncs_;
    std::string name_;
    Vfs vfs_{};
    mutable std::mutex mutex_;
    std::vector<DiskOperation> done_;
    std::map<std::string, std::size_t> live_;  ///< The files that a process sees, by name.
    std::size_t files_ = 0;
    std::size_t steps_ = 0;
    DiskFailure failure_;
    bool frozen_ = false;
};

LosingDisk::LosingDisk(std::filesystem::path directory, Syncs syncs)
    : directory_(std::move(directory)), shim_(std::make_unique<Shim>(syncs)) {}

LosingDisk::~LosingDisk() = default;

std::string LosingDisk::uri(std::string_view file) const {
    return "file:" + (directory_ / file).string() + "?vfs=" + shim_->name();
}

void LosingDisk::fail(const DiskFailure& failure) { shim_->fail(failure); }

void LosingDisk::freeze(bool frozen) { shim_->freeze(frozen); }

std::size_t LosingDisk::steps() const { return shim_->steps(); }

std::vector<DiskOperation> LosingDisk::operations() const { return shim_->operations(); }

std::size_t LosingDisk::now() const { return shim_->now(); }

void write_image(const DiskImage& image, const std::filesystem::path& directory) {
    for (const auto& [name, bytes] : image) {
        std::ofstream file(directory / name, std::ios::binary | std::ios::trunc);
        file << bytes << std::flush;
        SEMEL_ASSERT(file.good());
    }
}

}  // namespace semel::testing
