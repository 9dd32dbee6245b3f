#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <string>

namespace semel::sqlite {

/// A file system that can be made to fail: the system's own, with one layer over it. Used by
/// opening `file:/path?vfs=semel_failing`.
class FailingVfs {
public:
    static constexpr const char* name = "semel_failing";

    FailingVfs() {
        base_ = sqlite3_vfs_find(nullptr);
        shim_ = *base_;
        shim_.zName = name;
        shim_.pNext = nullptr;
        shim_.szOsFile = static_cast<int>(sizeof(File)) + base_->szOsFile;
        shim_.xOpen = open;
        sqlite3_vfs_register(&shim_, 0);
    }
    ~FailingVfs() { sqlite3_vfs_unregister(&shim_); }
    FailingVfs(const FailingVfs&) = delete;
    FailingVfs& operator=(const FailingVfs&) = delete;

    [[nodiscard]] static std::string uri(const std::string& path) { return "file:" + path + "?vfs=" + name; }

    /// What fsync of the log, and of the database itself, answer; 0 lets them through.
    static inline std::atomic<int> log_sync = SQLITE_OK;
    static inline std::atomic<int> database_sync = SQLITE_OK;
    /// What writing to the log answers.
    static inline std::atomic<int> log_write = SQLITE_OK;
    /// What reading the journal of a savepoint answers.
    static inline std::atomic<int> savepoint_read = SQLITE_OK;

private:
    struct File {
        sqlite3_file base;
        int flags;
        [[nodiscard]] sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
        [[nodiscard]] bool is_log() const { return (flags & SQLITE_OPEN_WAL) != 0; }
        [[nodiscard]] bool is_savepoint() const { return (flags & SQLITE_OPEN_SUBJOURNAL) != 0; }
    };
    static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
    static sqlite3_file* in(sqlite3_file* file) { return of(file).inner(); }

    static int open(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
        static const sqlite3_io_methods methods = make_methods();
        of(file).flags = flags;
        const int code = base_->xOpen(base_, path, in(file), flags, out_flags);
        file->pMethods = in(file)->pMethods != nullptr ? &methods : nullptr;
        return code;
    }

    static sqlite3_io_methods make_methods() {
        sqlite3_io_methods m{};
        m.iVersion = 2;
        m.xClose = [](sqlite3_file* f) { return in(f)->pMethods->xClose(in(f)); };
        m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
            if (of(f).is_savepoint() && savepoint_read != SQLITE_OK) return savepoint_read.load();
            return in(f)->pMethods->xRead(in(f), to, n, at);
        };
        m.xWrite = [](sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
            if (of(f).is_log() && log_write != SQLITE_OK) return log_write.load();
            return in(f)->pMethods->xWrite(in(f), from, n, at);
        };
        m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) { return in(f)->pMethods->xTruncate(in(f), size); };
        m.xSync = [](sqlite3_file* f, int flags) {
            const int failure = of(f).is_log() ? log_sync : database_sync;
            return failure != SQLITE_OK ? failure : in(f)->pMethods->xSync(in(f), flags);
        };
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
        m.xShmUnmap = [](sqlite3_file* f, int remove) { return in(f)->pMethods->xShmUnmap(in(f), remove); };
        return m;
    }

    static inline sqlite3_vfs* base_ = nullptr;
    sqlite3_vfs shim_{};
};

}  // namespace semel::sqlite
