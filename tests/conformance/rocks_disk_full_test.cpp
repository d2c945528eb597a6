// A disk without space: the store refuses commits, goes on reading, and takes commits again by itself.
#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <shared_mutex>
#include <thread>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "adapters/store/rocksdb/rocks_probe.hpp"
#include "store_fixture.hpp"

using namespace opid;
using namespace opid::test;

namespace {

constexpr std::int64_t endless = std::int64_t{1} << 60;

// A file system with so many bytes left. What does not fit is written as far as it fits, as a real disk does.
class SmallDisk final : public rocksdb::FileSystemWrapper {
public:
    SmallDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
    const char* Name() const override { return "SmallDisk"; }

    std::atomic<std::int64_t> left{endless};
    std::atomic<int> probes{0};
    std::atomic<bool> log_sync_finds_no_space{false};
    std::atomic<bool> log_append_is_broken{false};

    // Who holds it exclusively sees the files of one moment.
    std::shared_mutex standstill;

    rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* result,
                                      rocksdb::IODebugContext* debug) override {
        const std::shared_lock moving(standstill);
        if (name.size() > 6 && name.substr(name.size() - 6) == "/probe") ++probes;
        std::unique_ptr<rocksdb::FSWritableFile> file;
        rocksdb::IOStatus status = target()->NewWritableFile(name, options, &file, debug);
        const bool log = name.size() > 4 && name.substr(name.size() - 4) == ".log";
        if (status.ok()) *result = std::make_unique<File>(*this, log, std::move(file));
        return status;
    }
    rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* debug) override {
        const std::shared_lock moving(standstill);
        return target()->RenameFile(from, to, options, debug);
    }
    rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* debug) override {
        const std::shared_lock moving(standstill);
        return target()->DeleteFile(name, options, debug);
    }

private:
    class File final : public rocksdb::FSWritableFileOwnerWrapper {
    public:
        File(SmallDisk& disk, bool log, std::unique_ptr<rocksdb::FSWritableFile> file)
            : FSWritableFileOwnerWrapper(std::move(file)),
              disk_(disk),
              log_(log) {}

        rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* debug) override {
            const std::shared_lock moving(disk_.standstill);
            if (log_ && disk_.log_append_is_broken) return rocksdb::IOStatus::IOError("broken");
            const auto size = static_cast<std::int64_t>(data.size());
            const std::int64_t before = disk_.left.fetch_sub(size);
            if (before >= size) return target()->Append(data, options, debug);
            disk_.left = 0;
            const auto fits = static_cast<std::size_t>(std::max<std::int64_t>(before, 0));
            if (fits > 0) {
                const rocksdb::IOStatus status = target()->Append({data.data(), fits}, options, debug);
                if (!status.ok()) return status;
            }
            return rocksdb::IOStatus::NoSpace("the small disk is full");
        }
        rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                                 const rocksdb::DataVerificationInfo&, rocksdb::IODebugContext* debug) override {
            return Append(data, options, debug);
        }
        rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
            if (log_ && disk_.log_sync_finds_no_space) return rocksdb::IOStatus::NoSpace("delayed allocation");
            return target()->Sync(options, debug);
        }
        rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
            return Sync(options, debug);
        }

    private:
        SmallDisk& disk_;
        const bool log_;
    };
};

class SmallStore {
public:
    SmallStore() : disk_(std::make_shared<SmallDisk>()), env_(rocksdb::NewCompositeEnv(disk_)) { open(); }

    RocksStore& store() { return *store_; }
    SmallDisk& disk() { return *disk_; }
    const std::string& directory() const { return folder_.path(); }
    void close() { store_.reset(); }
    void open() {
        auto opened = RocksStore::open(options(folder_.path()));
        if (!opened) FAIL(opened.error().what());
        store_ = std::move(*opened);
    }
    RocksOptions options(const std::string& directory) {
        RocksOptions out;
        out.directory = directory;
        out.block_cache_bytes = 8 * mebibyte;
        out.free_space = [](const std::string&) { return 1024 * 1024 * mebibyte; };
        out.now = [] { return at_ms(5'000'000); };
        out.heal_interval = Millis{1};
        out.high_water_interval = Millis{1};
        out.env = env_.get();
        return out;
    }

    // Waits for the store's own threads; false where it takes far longer than it may.
    bool wait_until(const std::function<bool()>& done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!done()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::yield();
        }
        return true;
    }
    bool heals() {
        disk_->left = endless;
        return wait_until([&] { return store_->health().writable; });
    }

    // What a kill at this moment would leave, opened and verified.
    std::unique_ptr<RocksStore> after_a_kill(TemporaryFolder& folder) {
        {
            const std::unique_lock still(disk_->standstill);
            std::filesystem::copy(folder_.path(), folder.path(), std::filesystem::copy_options::recursive);
        }
        const Result<VerifyReport> report = verify_store(folder.path());
        REQUIRE(report);
        for (const std::string& problem : report->problems) UNSCOPED_INFO(problem);
        CHECK(report->sound());
        RocksOptions sound_disk = options(folder.path());
        sound_disk.env = nullptr;
        auto opened = RocksStore::open(sound_disk);
        if (!opened) FAIL(opened.error().what());
        return std::move(*opened);
    }

private:
    TemporaryFolder folder_;
    std::shared_ptr<SmallDisk> disk_;
    std::unique_ptr<rocksdb::Env> env_;
    std::unique_ptr<RocksStore> store_;
};

}  // namespace

TEST_CASE("a full disk closes the store to commits until there is space", "[store][rocks][full]") {
    SmallStore small;
    RocksStore& store = small.store();
    const Operation first = new_operation("first");
    const Operation failed = new_operation("failed");
    REQUIRE(word(put(store, first)) == "ok");
    const std::int64_t fits = GENERATE(0, 1, 7, 100, 200);  // bytes of the failed record that reach the log
    small.disk().left = fits;
    CHECK(word(put(store, failed)) == "indeterminate");
    CHECK_FALSE(store.health().writable);
    CHECK_FALSE(store.health().latched);
    CHECK(store.health().reason.find("is full") != std::string::npos);
    CHECK(word(put(store, failed)) == "unavailable");
    CHECK(word(put(store, moved(first, OperationStatus::succeeded))) == "unavailable");
    CHECK(run(store.allocate_step("t", "s", "i")).error().kind() == ErrorKind::unavailable);
    CHECK(run(store.sweep(at_ms(9'000'000), at_ms(0), at_ms(9'000'000))));  // nothing to retire, nothing to write
    CHECK(stored(store, first) == first);
    CHECK(run(store.in_progress())->size() == 1);
    REQUIRE(small.wait_until([&] { return small.disk().probes >= 2; }));  // it looks, and looks again
    CHECK_FALSE(store.health().writable);
    {
        TemporaryFolder folder;
        const auto killed = small.after_a_kill(folder);
        CHECK(stored(*killed, first) == first);
        CHECK(is_absent(*killed, failed));
    }
    REQUIRE(small.heals());
    CHECK_FALSE(store.health().latched);
    CHECK(store.health().reason.empty());
    CHECK(is_absent(store, failed));
    {
        TemporaryFolder folder;
        const auto killed = small.after_a_kill(folder);
        CHECK(stored(*killed, first) == first);
        CHECK(is_absent(*killed, failed));
    }
    CHECK(word(put(store, failed)) == "ok");
    CHECK(word(put(store, moved(first, OperationStatus::succeeded))) == "ok");
    CHECK(*run(store.allocate_step("t", "s", "i")) == "i");
    TemporaryFolder folder;
    const auto killed = small.after_a_kill(folder);
    CHECK(stored(*killed, failed) == failed);
    CHECK(stored(*killed, first).status == OperationStatus::succeeded);
    CHECK_FALSE(std::filesystem::exists(small.directory() + "/probe"));
}

TEST_CASE("a transition that found no space did not happen, and can be made later", "[store][rocks][full]") {
    SmallStore small;
    Operation claimed = new_operation("op-1", OperationStatus::unknown);
    claimed.next_step = {NextStepKind::look_up, at_ms(100)};
    const Operation done = with_response(moved(claimed, OperationStatus::succeeded), std::string(10'000, 'r'));
    REQUIRE(word(put(small.store(), claimed)) == "ok");
    for (int round = 0; round < 3; ++round) {
        small.disk().left = 5000 * round;
        CHECK(word(put(small.store(), done)) == "indeterminate");
        CHECK(stored(small.store(), claimed) == claimed);
        REQUIRE(small.heals());
        CHECK(stored(small.store(), claimed) == claimed);
        CHECK(run(small.store().due(at_ms(100), {}, 10))->size() == 1);
        CHECK(run(small.store().load_body(claimed.key, BodyPart::response)).error().kind() == ErrorKind::not_found);
    }
    CHECK(word(put(small.store(), done)) == "ok");
    CHECK(*run(small.store().load_body(claimed.key, BodyPart::response)) == std::string(10'000, 'r'));
    CHECK(small.store().health().open_operations == 0);
    small.close();
    small.open();
    CHECK(stored(small.store(), claimed).status == OperationStatus::succeeded);
}

TEST_CASE("a flush that finds no space heals too", "[store][rocks][full]") {
    SmallStore small;
    const Operation first = new_operation("first");
    REQUIRE(word(put(small.store(), first)) == "ok");
    small.disk().left = 0;
    CHECK_FALSE(RocksStoreProbe::flush(small.store()));
    CHECK_FALSE(small.store().health().writable);
    CHECK_FALSE(small.store().health().latched);
    CHECK(word(put(small.store(), new_operation("second"))) == "unavailable");
    CHECK(stored(small.store(), first) == first);
    REQUIRE(small.heals());
    CHECK(word(put(small.store(), new_operation("second"))) == "ok");
    CHECK(RocksStoreProbe::flush(small.store()));
    CHECK(stored(small.store(), first) == first);
}

TEST_CASE("a sync that finds no space, and a broken disk, still latch", "[store][rocks][full]") {
    SmallStore small;
    REQUIRE(word(put(small.store(), new_operation("first"))) == "ok");
    const bool sync = GENERATE(true, false);
    (sync ? small.disk().log_sync_finds_no_space : small.disk().log_append_is_broken) = true;
    CHECK(word(put(small.store(), new_operation("failed"))) == "indeterminate");
    small.disk().log_sync_finds_no_space = false;
    small.disk().log_append_is_broken = false;
    CHECK(small.store().health().latched);
    CHECK_FALSE(small.store().health().writable);
    CHECK(word(put(small.store(), new_operation("later"))) == "unavailable");
    small.close();
    small.open();
    CHECK(small.store().health().writable);
    CHECK(stored(small.store(), new_operation("first")).version == 1);
    CHECK(word(put(small.store(), new_operation("later"))) == "ok");
}

TEST_CASE("a store on a full disk closes and opens again", "[store][rocks][full]") {
    SmallStore small;
    REQUIRE(word(put(small.store(), new_operation("first"))) == "ok");
    small.disk().left = 20;
    CHECK(word(put(small.store(), new_operation("failed"))) == "indeterminate");
    small.close();
    small.disk().left = endless;
    small.open();
    CHECK(stored(small.store(), new_operation("first")).version == 1);
    CHECK(is_absent(small.store(), new_operation("failed")));
}

// The disk fills again and again, also in the midst of healing; every record stays what its last successful commit
// made it, in the running store and in what a kill leaves.
TEST_CASE("a disk that fills again and again loses nothing and halves nothing", "[store][rocks][full]") {
    for (unsigned seed = 1; seed <= 4; ++seed) {
        INFO("seed " << seed);
        SmallStore small;
        std::mt19937 random(seed);
        std::map<std::string, Operation> last;
        unsigned failures = 0;
        for (int n = 0; failures < 12 && n < 4000; ++n) {
            const std::string id = "op-" + std::to_string(random() % (40U + static_cast<unsigned>(n) / 4U));
            Operation next = new_operation(id);
            const auto found = last.find(id);
            if (found != last.end() && is_final(found->second.status)) continue;
            if (found == last.end()) next.intent.body = payload(std::string(random() % 9000, 'q'));
            else if (random() % 3 == 0) next = with_response(moved(found->second, OperationStatus::succeeded), "{}");
            else next = moved(found->second, OperationStatus::unknown);
            if (n % 30 == 0) small.disk().left = static_cast<std::int64_t>(random() % 60'000);
            const std::string result = word(put(small.store(), next));
            REQUIRE_FALSE(small.store().health().latched);
            if (result == "ok") {
                last[id] = next;
                continue;
            }
            ++failures;
            REQUIRE((result == "indeterminate" || result == "unavailable"));
            // First too little space for a whole recovery, then enough.
            const int probes = small.disk().probes;
            small.disk().left = static_cast<std::int64_t>(256 * 1024 + random() % 20'000);
            REQUIRE(small.wait_until([&] { return small.disk().probes > probes || small.store().health().writable; }));
            if (!small.heals()) FAIL(small.store().health().reason);
            INFO(id);
            if (found == last.end()) REQUIRE(is_absent(small.store(), next));
        }
        CHECK(failures == 12);
        TemporaryFolder folder;
        const auto killed = small.after_a_kill(folder);
        std::size_t open = 0;
        for (const auto& [id, operation] : last) {
            INFO(id);
            for (RocksStore* store : {&small.store(), killed.get()}) {
                const Operation now = stored(*store, operation);
                REQUIRE(now.version == operation.version);
                REQUIRE(now.status == operation.status);
            }
            open += is_final(operation.status) ? 0 : 1;
        }
        CHECK(small.store().health().open_operations == open);
        CHECK(killed->health().open_operations == open);
    }
}
