// What the disk may do to the RocksDB store: lose power, fail a sync, flip a bit, lose a file.
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "../support/power_loss_fs.hpp"
#include "adapters/store/rocksdb/rocks_probe.hpp"
#include "store_fixture.hpp"

using namespace opid;
using namespace opid::test;

namespace {

// A store on a disk that can be cut, and the same folder on a sound disk afterwards.
class CutStore {
public:
    explicit CutStore(std::uint64_t seed)
        : fs_(std::make_shared<PowerLossFs>(seed)), env_(rocksdb::NewCompositeEnv(fs_)) {
        open();
    }
    void open() {
        auto opened = RocksStore::open(options(env_.get()));
        if (!opened) FAIL(opened.error().what());
        store_ = std::move(*opened);
    }
    RocksStore& store() { return *store_; }
    PowerLossFs& fs() { return *fs_; }
    const std::string& directory() const { return folder_.path(); }
    void close() { store_.reset(); }
    Result<std::unique_ptr<RocksStore>> reopen() {
        store_.reset();
        return RocksStore::open(options(nullptr));
    }
    RocksOptions options(rocksdb::Env* env) {
        RocksOptions out;
        out.directory = folder_.path();
        out.block_cache_bytes = 8 * mebibyte;
        out.free_space = [](const std::string&) { return 1024 * 1024 * mebibyte; };
        out.now = [] { return at_ms(5'000'000); };
        out.env = env;
        change(out);
        return out;
    }
    std::function<void(RocksOptions&)> change = [](RocksOptions&) {};

private:
    TemporaryFolder folder_;
    std::shared_ptr<PowerLossFs> fs_;
    std::unique_ptr<rocksdb::Env> env_;
    std::unique_ptr<RocksStore> store_;
};

using Acknowledged = std::map<std::string, std::uint64_t>;  // ID -> version

Task<void> work(OperationStore& store, std::string prefix, Acknowledged& acknowledged) {
    for (int n = 0; n < 1000; ++n) {
        Operation operation = new_operation(prefix + std::to_string(n));
        operation.intent.body = payload(std::string(static_cast<std::size_t>(n % 7) * 1500, 'b'));
        Commit claim = commit_of(operation);
        const Status begun = co_await store.commit(std::move(claim));
        if (!begun) co_return;
        acknowledged[operation.id] = 1;
        const Operation done = with_response(moved(operation, OperationStatus::succeeded),
                                             std::string(static_cast<std::size_t>(n % 5) * 2000, 'r'));
        Commit outcome = commit_of(done);
        const Status ended = co_await store.commit(std::move(outcome));
        if (!ended) co_return;
        acknowledged[operation.id] = 2;
    }
}

Acknowledged work_until_cut(CutStore& disk, int tasks) {
    Acknowledged acknowledged;
    LeasedContext lease;
    boost::asio::io_context& context = *lease;
    for (int task = 0; task < tasks; ++task) {
        boost::asio::co_spawn(context, work(disk.store(), std::to_string(task) + "-", acknowledged),
                              [](std::exception_ptr failed) { if (failed) std::abort(); });
    }
    context.run();
    return acknowledged;
}

// Every acknowledged version is there or was moved on whole: never half of a transition.
void check_all(RocksStore& store, const Acknowledged& acknowledged) {
    for (const auto& [id, version] : acknowledged) {
        const Operation operation = new_operation(id);
        const Result<Loaded> loaded = run(store.load(operation.key));
        INFO(id);
        REQUIRE(loaded);
        REQUIRE(std::holds_alternative<Operation>(*loaded));
        const Operation& found = std::get<Operation>(*loaded);
        REQUIRE(found.version >= version);
        REQUIRE(found.version <= 2);
        REQUIRE(found.status == (found.version == 1 ? OperationStatus::in_progress : OperationStatus::succeeded));
        REQUIRE(found.response.has_value() == (found.version == 2));
        if (found.intent.body.external) REQUIRE(run(store.load_body(found.key, BodyPart::request)));
        if (found.response && found.response->body.external) {
            REQUIRE(run(store.load_body(found.key, BodyPart::response))->size() == found.response->body.size);
        }
    }
}

std::string newest_log(const std::string& directory) {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(directory + "/db")) {
        const std::string name = entry.path().string();
        if (entry.path().extension() == ".log" && name > newest) newest = name;
    }
    return newest;
}

void copy_store(const std::string& from, const std::string& to) {
    std::filesystem::remove_all(to);
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

}  // namespace

TEST_CASE("every acknowledged commit survives a power cut", "[store][rocks][power]") {
    const Loss loss = GENERATE(Loss::whole, Loss::part, Loss::zeros);
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        INFO("seed " << seed);
        CutStore disk(seed);
        const unsigned cut_at = static_cast<unsigned>(seed * seed * 3 % 83) + 2;
        disk.fs().before_log_sync = [&](unsigned n) {
            if (n == cut_at) disk.fs().cut(loss);
            return rocksdb::IOStatus::OK();
        };
        const Acknowledged acknowledged = work_until_cut(disk, 8);
        CHECK(disk.store().health().latched);
        auto reopened = disk.reopen();
        if (loss == Loss::zeros && !reopened) {
            // A torn record that reads as zeros looks like damage. Refusing loses nothing.
            CHECK(reopened.error().what().find("opid store verify") != std::string::npos);
            continue;
        }
        if (!reopened) FAIL(reopened.error().what());
        check_all(**reopened, acknowledged);
        reopened->reset();
        const Result<VerifyReport> report = verify_store(disk.directory());
        REQUIRE(report);
        for (const std::string& problem : report->problems) UNSCOPED_INFO(problem);
        CHECK(report->sound());
    }
}

TEST_CASE("a power cut after flushes and log switches loses nothing", "[store][rocks][power]") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CutStore disk(seed);
        disk.close();
        disk.change = [](RocksOptions& options) {
            options.wal_bytes_max = 64 * 1024;  // switches all the time
            options.write_buffer_bytes = 256 * 1024;
        };
        disk.open();
        disk.fs().before_log_sync = [&](unsigned n) {
            if (n == 400 + seed) disk.fs().cut(Loss::part);
            return rocksdb::IOStatus::OK();
        };
        const Acknowledged acknowledged = work_until_cut(disk, 8);
        CHECK(acknowledged.size() > 100);
        auto reopened = disk.reopen();
        if (!reopened) FAIL(reopened.error().what());
        check_all(**reopened, acknowledged);
    }
}

TEST_CASE("a failed sync latches the store", "[store][rocks][power]") {
    CutStore disk(1);
    const Operation first = new_operation("first");
    const Operation failed = new_operation("failed");
    REQUIRE(word(put(disk.store(), first)) == "ok");
    bool fail = true;
    disk.fs().before_log_sync = [&](unsigned) {
        return std::exchange(fail, false) ? rocksdb::IOStatus::IOError("sync failed") : rocksdb::IOStatus::OK();
    };
    CHECK(word(put(disk.store(), failed)) == "indeterminate");
    CHECK(disk.store().health().latched);
    CHECK_FALSE(disk.store().health().writable);
    CHECK(word(put(disk.store(), new_operation("later"))) == "unavailable");
    CHECK(word(put(disk.store(), moved(first, OperationStatus::succeeded))) == "unavailable");
    CHECK(run(disk.store().allocate_step("t", "s", "i")).error().kind() == ErrorKind::unavailable);
    CHECK(stored(disk.store(), first) == first);  // reads go on
    auto reopened = disk.reopen();
    if (!reopened) FAIL(reopened.error().what());
    CHECK(stored(**reopened, first) == first);
    const Result<Loaded> loaded = load(**reopened, failed);
    REQUIRE(loaded);
    if (std::holds_alternative<Operation>(*loaded)) CHECK(std::get<Operation>(*loaded) == failed);
    else CHECK(std::holds_alternative<Absent>(*loaded));
    CHECK(is_absent(**reopened, new_operation("later")));
    CHECK_FALSE((*reopened)->health().latched);
}

TEST_CASE("a full queue refuses claims but not outcomes", "[store][rocks]") {
    CutStore disk(1);
    disk.close();
    disk.change = [](RocksOptions& options) { options.queue_commits_max = 4; };
    disk.open();
    std::mutex mutex;
    std::condition_variable changed;
    bool syncing = false;
    bool released = false;
    const Operation running = new_operation("running");
    REQUIRE(word(put(disk.store(), running)) == "ok");
    disk.fs().before_log_sync = [&](unsigned) {
        std::unique_lock lock(mutex);
        syncing = true;
        changed.notify_all();
        changed.wait(lock, [&] { return released; });
        return rocksdb::IOStatus::OK();
    };
    LeasedContext lease;
    boost::asio::io_context& context = *lease;
    std::vector<std::string> results(7);
    const auto begin = [&](std::size_t at, const Operation& operation) {
        boost::asio::co_spawn(context, disk.store().commit(commit_of(operation)),
                              [&results, at](std::exception_ptr, Status status) { results[at] = word(status); });
    };
    begin(0, new_operation("op-0"));
    context.poll();
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return syncing; });
    }
    for (std::size_t at = 1; at <= 5; ++at) begin(at, new_operation("op-" + std::to_string(at)));
    begin(6, moved(running, OperationStatus::succeeded));
    context.poll();
    CHECK(results[5] == "overloaded");
    CHECK(results[4].empty());
    CHECK(results[6].empty());
    {
        const std::lock_guard lock(mutex);
        released = true;
    }
    changed.notify_all();
    context.run();
    for (const std::size_t at : {0U, 1U, 2U, 3U, 4U, 6U}) CHECK(results[at] == "ok");
    CHECK(is_absent(disk.store(), new_operation("op-5")));
    CHECK(stored(disk.store(), running).status == OperationStatus::succeeded);
}

TEST_CASE("waiters that are abandoned are destroyed without harm", "[store][rocks]") {
    CutStore disk(1);
    auto context = std::make_unique<boost::asio::io_context>(1);
    int resumed = 0;
    for (int n = 0; n < 20; ++n) {
        boost::asio::co_spawn(*context, disk.store().commit(commit_of(new_operation("op-" + std::to_string(n)))),
                              [&resumed](std::exception_ptr, Status) { ++resumed; });
    }
    context->poll_one();
    context->poll_one();
    disk.close();  // finishes what is queued and posts it to a context that nobody runs any more
    context.reset();
    CHECK(resumed == 0);
}

TEST_CASE("a flipped bit in the live log refuses to open", "[store][rocks][damage]") {
    CutStore disk(1);
    for (int n = 0; n < 40; ++n) REQUIRE(word(put(disk.store(), new_operation("op-" + std::to_string(n)))) == "ok");
    disk.close();
    TemporaryFolder copy;
    const std::uintmax_t size = std::filesystem::file_size(newest_log(disk.directory()));
    for (std::uintmax_t at = 0; at < size; at += size / 37) {
        copy_store(disk.directory(), copy.path());
        {
            std::fstream file(newest_log(copy.path()), std::ios::in | std::ios::out | std::ios::binary);
            file.seekg(static_cast<std::streamoff>(at));
            const char byte = static_cast<char>(file.get() ^ 0x10);
            file.seekp(static_cast<std::streamoff>(at));
            file.put(byte);
        }
        RocksOptions options = disk.options(nullptr);
        options.directory = copy.path();
        for (int attempt = 0; attempt < 2; ++attempt) {  // the refusal must not heal by being tried again
            const auto opened = RocksStore::open(options);
            INFO("byte " << at);
            REQUIRE_FALSE(opened);
            CHECK(opened.error().what().find("opid store verify") != std::string::npos);
        }
        const Result<VerifyReport> report = verify_store(copy.path());
        REQUIRE(report);
        CHECK_FALSE(report->sound());
    }
}

TEST_CASE("a store that lost a file, or went back, refuses to open", "[store][rocks][damage]") {
    CutStore disk(1);
    REQUIRE(word(put(disk.store(), new_operation("op-1"))) == "ok");
    disk.close();
    TemporaryFolder older;
    copy_store(disk.directory(), older.path());
    disk.open();
    REQUIRE(word(put(disk.store(), new_operation("op-2"))) == "ok");
    disk.close();
    TemporaryFolder copy;
    RocksOptions options = disk.options(nullptr);
    options.directory = copy.path();
    const auto problem = [&](auto damage) {
        copy_store(disk.directory(), copy.path());
        damage();
        const auto opened = RocksStore::open(options);
        REQUIRE_FALSE(opened);
        CHECK(opened.error().what().find("opid store verify") != std::string::npos);
        const Result<VerifyReport> report = verify_store(copy.path());
        if (report) CHECK_FALSE(report->sound());
        return opened.error().what();
    };
    CHECK(problem([&] { std::filesystem::remove(newest_log(copy.path())); }).find("is missing") != std::string::npos);
    CHECK(problem([&] { copy_store(older.path() + "/db", copy.path() + "/db"); }) != "");
    CHECK(problem([&] { std::filesystem::remove_all(copy.path() + "/db"); }).find("is gone") != std::string::npos);
    CHECK(problem([&] { std::filesystem::remove(copy.path() + "/high_water"); }).find("high-water") !=
          std::string::npos);
    CHECK(problem([&] {
              std::ofstream(copy.path() + "/high_water", std::ios::trunc) << "nothing";
          }).find("high-water") != std::string::npos);

    copy_store(disk.directory(), copy.path());
    std::filesystem::remove(copy.path() + "/high_water");
    options.accept_restore_horizon = true;
    const auto accepted = RocksStore::open(options);
    REQUIRE(accepted);
    CHECK(stored(**accepted, new_operation("op-2")).id == "op-2");
}

TEST_CASE("an unreadable open record refuses to open", "[store][rocks][damage]") {
    CutStore disk(1);
    REQUIRE(word(put(disk.store(), new_operation("op-1"))) == "ok");
    const Status broken = RocksStoreProbe::break_open_record(disk.store(), new_operation("op-1").key);
    REQUIRE(broken);
    const Result<Loaded> loaded = load(disk.store(), new_operation("op-1"));
    CHECK_FALSE(loaded);  // never Absent: that would run it again
    const auto reopened = disk.reopen();
    REQUIRE_FALSE(reopened);
    CHECK(reopened.error().what().find("opid store verify") != std::string::npos);
}
