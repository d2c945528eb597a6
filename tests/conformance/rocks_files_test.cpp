// The store's folder: its lock, verify, backup and restore.
#include <fmt/format.h>

#include <fstream>

#include "adapters/store/rocksdb/high_water.hpp"
#include "adapters/store/rocksdb/rocks_probe.hpp"
#include "store_fixture.hpp"

using namespace opid;
using namespace opid::test;

TEST_CASE("one process at a time", "[store][rocks]") {
    RocksFixture fixture;
    const auto second = RocksStore::open(fixture.options());
    REQUIRE_FALSE(second);
    CHECK(second.error().kind() == ErrorKind::unavailable);
    CHECK(second.error().what().find("in use by another opid (process ") != std::string::npos);
    CHECK_FALSE(verify_store(fixture.directory()));
    fixture.close();
    CHECK(RocksStore::open(fixture.options()));
}

TEST_CASE("a store needs a directory that can be made, and a clock", "[store][rocks]") {
    RocksOptions options;
    CHECK(RocksStore::open(options).error().kind() == ErrorKind::invalid);
    options.directory = "/proc/opid-store";
    CHECK(RocksStore::open(options).error().kind() == ErrorKind::invalid);
    options.now = [] { return at_ms(0); };
    CHECK(RocksStore::open(options).error().kind() == ErrorKind::unavailable);
}

TEST_CASE("verify counts what is there", "[store][rocks]") {
    RocksFixture fixture;
    Operation large = new_operation("large");
    large.intent.body = payload(std::string(5000, 'x'));
    REQUIRE(word(put(fixture.store(), large)) == "ok");
    REQUIRE(word(put(fixture.store(), new_operation("done", OperationStatus::failed))) == "ok");
    REQUIRE(word(put(fixture.store(), new_operation("gone", OperationStatus::failed, 1))) == "ok");
    REQUIRE(run(fixture.store().sweep(at_ms(2), at_ms(0), at_ms(5)))->retired == 1);
    REQUIRE(run(fixture.store().allocate_step("t", "s", "i")));
    fixture.close();
    const Result<VerifyReport> report = verify_store(fixture.directory());
    REQUIRE(report);
    for (const std::string& problem : report->problems) UNSCOPED_INFO(problem);
    CHECK(report->sound());
    CHECK(report->open_records == 1);
    CHECK(report->final_records == 1);
    CHECK(report->tombstones == 1);
    CHECK(report->bodies == 1);
    CHECK(report->body_bytes == 5000);
    CHECK(report->steps == 1);
    CHECK(verify_store(fixture.directory() + "/nowhere").error().kind() == ErrorKind::not_found);
}

TEST_CASE("verify names what does not fit together", "[store][rocks]") {
    RocksFixture fixture;
    REQUIRE(word(put(fixture.store(), new_operation("op-1"))) == "ok");
    REQUIRE(RocksStoreProbe::break_open_record(fixture.rocks(), new_operation("op-1").key));
    fixture.close();
    const Result<VerifyReport> report = verify_store(fixture.directory());
    REQUIRE(report);
    CHECK(report->problem_count == 1);
    REQUIRE(report->problems.size() == 1);
    CHECK(report->problems[0].find("stored record") != std::string::npos);
}

OPID_BACKUP_TEST("a restored backup has to be acknowledged once") {
    RocksFixture fixture;
    TemporaryFolder backups;
    const Operation before = new_operation("before");
    const Operation after = new_operation("after");
    REQUIRE(word(put(fixture.store(), before)) == "ok");
    const Result<BackupInfo> made = run(fixture.rocks().backup(backups.path() + "/b"));
    REQUIRE(made);
    CHECK(made->id == 1);
    CHECK(made->known_until == at_ms(5'000'000));
    CHECK(made->bytes > 0);
    REQUIRE(word(put(fixture.store(), after)) == "ok");
    CHECK(restore_store(backups.path() + "/b", fixture.directory(), true).error().kind() == ErrorKind::unavailable);
    fixture.close();
    CHECK(restore_store(backups.path() + "/b", fixture.directory(), false).error().kind() == ErrorKind::conflict);
    CHECK_FALSE(restore_store(backups.path() + "/none", fixture.directory(), true));
    const Result<BackupInfo> restored = restore_store(backups.path() + "/b", fixture.directory(), true);
    REQUIRE(restored);
    CHECK(restored->known_until == at_ms(5'000'000));

    RocksOptions options = fixture.options();
    const auto refused = RocksStore::open(options);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what().find("1970-01-01 01:23:20 UTC") != std::string::npos);
    options.accept_restore_horizon = true;
    {
        const auto accepted = RocksStore::open(options);
        if (!accepted) FAIL(accepted.error().what());
        CHECK((*accepted)->restore_horizon() == at_ms(5'000'000));
        CHECK(stored(**accepted, before) == before);
        CHECK(is_absent(**accepted, after));
        CHECK(word(put(**accepted, after)) == "ok");
    }
    options.accept_restore_horizon = false;
    const auto again = RocksStore::open(options);
    REQUIRE(again);
    CHECK((*again)->restore_horizon() == at_ms(5'000'000));
    CHECK(stored(**again, after) == after);
}

OPID_BACKUP_TEST("backups run beside commits and build on each other") {
    RocksFixture fixture;
    TemporaryFolder backups;
    for (int n = 0; n < 20; ++n) REQUIRE(word(put(fixture.store(), new_operation("a" + std::to_string(n)))) == "ok");
    REQUIRE(run(fixture.rocks().backup(backups.path())));
    for (int n = 0; n < 20; ++n) REQUIRE(word(put(fixture.store(), new_operation("b" + std::to_string(n)))) == "ok");
    const Result<BackupInfo> second = run(fixture.rocks().backup(backups.path()));
    REQUIRE(second);
    CHECK(second->id == 2);
    TemporaryFolder target;
    const std::string directory = target.path() + "/store";
    REQUIRE(restore_store(backups.path(), directory, false));
    RocksOptions options = fixture.options();
    options.directory = directory;
    options.accept_restore_horizon = true;
    const auto opened = RocksStore::open(options);
    if (!opened) FAIL(opened.error().what());
    CHECK((*opened)->health().open_operations == 40);
}

TEST_CASE("the high-water file survives a torn write", "[store][rocks]") {
    TemporaryFolder folder;
    const std::string path = folder.path() + "/high_water";
    CHECK(HighWaterFile(path).read().error().kind() == ErrorKind::not_found);
    for (std::uint64_t n = 1; n <= 5; ++n) {
        HighWaterFile file(path);
        REQUIRE(file.write({n, n + 100, n == 3}));
        CHECK(*file.read() == HighWater{n, n + 100, n == 3});
    }
    const auto damage = [&](std::streamoff at) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(at);
        file.put('\x7f');
    };
    damage(4096 + 20);  // generation 5 is in the second slot
    CHECK(*HighWaterFile(path).read() == HighWater{4, 104, false});
    damage(20);
    CHECK(HighWaterFile(path).read().error().kind() == ErrorKind::invalid);
}

// Each flush makes a table of every family; with so few that may be open, a start opens hardly one of them.
TEST_CASE("a table that is not open yet is opened before it is taken at its word", "[store][rocks]") {
    TemporaryFolder folder;
    RocksOptions options;
    options.directory = folder.path();
    options.now = [] { return at_ms(0); };
    options.open_files_max = 20;
    constexpr int rounds = 3;
    const auto id = [](int round, std::string_view kind) { return fmt::format("{}-{}", kind, round); };
    {
        const auto store = RocksStore::open(options);
        REQUIRE(store);
        for (int round = 0; round < rounds; ++round) {
            REQUIRE(word(put(**store, new_operation(id(round, "open"), OperationStatus::unknown))) == "ok");
            REQUIRE(word(put(**store, new_operation(id(round, "done"), OperationStatus::succeeded))) == "ok");
            REQUIRE(*run((*store)->allocate_step("t", id(round, "step"), id(round, "named"))) == id(round, "named"));
            REQUIRE(RocksStoreProbe::flush(**store));
        }
    }
    for (const bool steps_first : {false, true}) {
        const auto store = RocksStore::open(options);
        REQUIRE(store);
        for (int round = 0; round < rounds; ++round) {
            const auto check_step = [&] {
                CHECK(*run((*store)->allocate_step("t", id(round, "step"), "another")) == id(round, "named"));
            };
            if (steps_first) check_step();
            for (const std::string_view kind : {"open", "done"}) {
                const Result<Loaded> loaded = run((*store)->load(new_operation(id(round, kind)).key));
                INFO(kind << " " << round << ": " << (loaded ? "" : loaded.error().what()));
                REQUIRE(loaded);
                REQUIRE(std::holds_alternative<Operation>(*loaded));
                CHECK(std::get<Operation>(*loaded).id == id(round, kind));
            }
            if (!steps_first) check_step();
            const Result<Loaded> absent = run((*store)->load(new_operation(id(round, "absent")).key));
            REQUIRE(absent);
            CHECK(std::holds_alternative<Absent>(*absent));
        }
    }
}
