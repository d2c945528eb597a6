#pragma once
// One store under test, whichever it is, with the means to restart it and to call it from a test's thread.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "adapters/store/memory/memory_store.hpp"
#include "adapters/store/rocksdb/rocks_store.hpp"
#include "sample_operation.hpp"

// The backup engine hands its work to threads of its own inside RocksDB, which is not instrumented: ThreadSanitizer
// sees the memory but not the locks, in frames that no suppression can name.
#if defined(__SANITIZE_THREAD__)
#define OPID_BACKUP_TEST(name) TEST_CASE(name, "[.][backup]")
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OPID_BACKUP_TEST(name) TEST_CASE(name, "[.][backup]")
#endif
#endif
#ifndef OPID_BACKUP_TEST
#define OPID_BACKUP_TEST(name) TEST_CASE(name, "[store][rocks][backup]")
#endif

namespace opid::test {

// A folder of its own, gone at the end.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "opid-store-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) std::abort();
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

namespace detail {
template <class T>
Task<void> keep(Task<T> task, std::optional<T>& out) {
    T value = co_await std::move(task);
    out.emplace(std::move(value));
}
}  // namespace detail

// An io_context that outlives every store, as the store demands: the thread that posts a result may still be inside
// post() when the coroutine has long gone on. Leased, so that a process needs as many as it has threads.
class LeasedContext {
public:
    LeasedContext() {
        const std::lock_guard lock(pool().mutex);
        if (!pool().free.empty()) {
            context_ = std::move(pool().free.back());
            pool().free.pop_back();
            context_->restart();
        } else {
            context_ = std::make_unique<boost::asio::io_context>(1);
        }
    }
    ~LeasedContext() {
        const std::lock_guard lock(pool().mutex);
        pool().free.push_back(std::move(context_));
    }
    LeasedContext(const LeasedContext&) = delete;
    LeasedContext& operator=(const LeasedContext&) = delete;
    boost::asio::io_context& operator*() { return *context_; }

private:
    struct Pool {
        std::mutex mutex;
        std::vector<std::unique_ptr<boost::asio::io_context>> free;
    };
    static Pool& pool() {
        static Pool pool;
        return pool;
    }
    std::unique_ptr<boost::asio::io_context> context_;
};

// Runs a task to its end on an io_context of this thread.
template <class T>
T run(Task<T> task) {
    LeasedContext lease;
    boost::asio::io_context& context = *lease;
    std::optional<T> out;
    std::exception_ptr failed;
    boost::asio::co_spawn(context, detail::keep(std::move(task), out), [&](std::exception_ptr e) { failed = e; });
    context.run();
    if (failed) std::rethrow_exception(failed);
    REQUIRE(out.has_value());
    return std::move(*out);
}

class MemoryFixture {
public:
    MemoryFixture() : store_(std::make_unique<MemoryStore>()) {}
    OperationStore& store() { return *store_; }
    void restart() { store_ = std::make_unique<MemoryStore>(MemoryOptions{}, store_->snapshot()); }
    void fill_disk(bool full) { store_->refuse_claims(full); }

private:
    std::unique_ptr<MemoryStore> store_;
};

class RocksFixture {
public:
    RocksFixture() { open(); }
    OperationStore& store() { return *store_; }
    RocksStore& rocks() { return *store_; }
    const std::string& directory() const { return folder_.path(); }
    void restart() {
        store_.reset();
        open();
    }
    void close() { store_.reset(); }
    void fill_disk(bool full) { free_bytes_ = full ? mebibyte : 1024 * mebibyte * 1024; }
    RocksOptions options() {
        RocksOptions out;
        out.directory = folder_.path();
        out.node = "node-a";
        out.block_cache_bytes = 8 * mebibyte;
        out.free_space_interval = Millis{0};
        out.free_space = [this](const std::string&) { return free_bytes_.load(); };
        out.now = [] { return at_ms(5'000'000); };
        return out;
    }

private:
    void open() {
        auto opened = RocksStore::open(options());
        if (!opened) FAIL(opened.error().what());
        store_ = std::move(*opened);
    }

    std::atomic<std::uint64_t> free_bytes_{1024 * mebibyte * 1024};
    TemporaryFolder folder_;
    std::unique_ptr<RocksStore> store_;
};

inline Result<Loaded> load(OperationStore& store, const Operation& operation) {
    return run(store.load(operation.key));
}

// The stored record, which has to be there.
inline Operation stored(OperationStore& store, const Operation& operation) {
    const Result<Loaded> loaded = load(store, operation);
    REQUIRE(loaded);
    REQUIRE(std::holds_alternative<Operation>(*loaded));
    return std::get<Operation>(*loaded);
}

inline bool is_absent(OperationStore& store, const Operation& operation) {
    const Result<Loaded> loaded = load(store, operation);
    REQUIRE(loaded);
    return std::holds_alternative<Absent>(*loaded);
}

inline Status put(OperationStore& store, const Operation& operation) { return run(store.commit(commit_of(operation))); }

// "ok", or the kind of the error.
inline std::string word(const Status& status) {
    if (status) return "ok";
    switch (status.error().kind()) {
        case ErrorKind::invalid: return "invalid";
        case ErrorKind::not_found: return "not_found";
        case ErrorKind::conflict: return "conflict";
        case ErrorKind::unavailable: return "unavailable";
        case ErrorKind::indeterminate: return "indeterminate";
        case ErrorKind::overloaded: return "overloaded";
        case ErrorKind::timeout: return "timeout";
        case ErrorKind::internal: return "internal";
    }
    return "?";
}

}  // namespace opid::test
