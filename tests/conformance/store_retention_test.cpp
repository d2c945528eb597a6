// What a sweep retires, what it forgets, and what it leaves alone.
#include "store_fixture.hpp"

using namespace opid;
using namespace opid::test;

#define BOTH_STORES MemoryFixture, RocksFixture

TEMPLATE_TEST_CASE("a sweep retires final and idle records, forgets tombstones and leaves the others alone", "[store]",
                   BOTH_STORES) {
    TestType fixture;
    OperationStore* store = &fixture.store();
    Operation old = new_operation("old", OperationStatus::in_progress, 1000);
    old.intent.body = payload(std::string(5000, 'q'));
    REQUIRE(word(put(*store, old)) == "ok");
    REQUIRE(word(put(*store, moved(old, OperationStatus::succeeded, 2000))) == "ok");
    const Operation late = new_operation("late", OperationStatus::in_progress, 1000);
    REQUIRE(word(put(*store, late)) == "ok");
    REQUIRE(word(put(*store, moved(late, OperationStatus::failed, 9000))) == "ok");
    std::vector<Operation> open;
    for (const OperationStatus status :
         {OperationStatus::in_progress, OperationStatus::unknown, OperationStatus::needs_review}) {
        open.push_back(new_operation("open-" + std::string(to_word(status)), status, 1000));
        REQUIRE(word(put(*store, open.back())) == "ok");
    }
    const auto sweep = [&](std::int64_t records, std::int64_t tombstones, std::int64_t now) {
        return *run(store->sweep(at_ms(records), at_ms(tombstones), at_ms(now)));
    };
    SweepResult result = sweep(2000, 0, 10'000);
    CHECK(result.retired == 0);
    result = sweep(2001, 0, 10'000);
    CHECK(result.retired == 1);
    CHECK(result.forgotten == 0);
    result = sweep(2001, 0, 11'000);
    CHECK(result.retired == 0);
    fixture.restart();
    store = &fixture.store();
    const Result<Loaded> loaded = load(*store, old);
    REQUIRE(loaded);
    REQUIRE(std::holds_alternative<Tombstone>(*loaded));
    CHECK(std::get<Tombstone>(*loaded) == Tombstone{OperationStatus::succeeded, at_ms(1000), at_ms(10'000)});
    CHECK(run(store->load_body(old.key, BodyPart::request)).error().kind() == ErrorKind::not_found);
    CHECK(run(store->load_history(old.key)).error().kind() == ErrorKind::not_found);
    CHECK(word(put(*store, old)) == "conflict");
    CHECK(word(put(*store, moved(moved(old, OperationStatus::succeeded), OperationStatus::succeeded))) == "conflict");
    CHECK(stored(*store, late).status == OperationStatus::failed);
    CHECK(sweep(0, 10'000, 20'000).forgotten == 0);
    result = sweep(1'000'000, 10'001, 20'000);
    CHECK(result.retired == 1);
    CHECK(result.forgotten == 1);
    CHECK(is_absent(*store, old));
    for (const Operation& operation : open) CHECK(stored(*store, operation) == operation);
    CHECK(store->health().open_operations == 3);
    CHECK(word(put(*store, old)) == "ok");
    CHECK(run(store->list(ListQuery{}))->operations.size() == 4);
}

TEMPLATE_TEST_CASE("a sweep gives up what was never sent", "[store]", BOTH_STORES) {
    TestType fixture;
    OperationStore* store = &fixture.store();
    const OperationStatus status = GENERATE(OperationStatus::prepared, OperationStatus::awaiting_approval);
    Operation old = new_operation("old", status, 1000);
    old.intent.body = payload(std::string(5000, 'q'));
    old.next_step = {NextStepKind::approval, at_ms(3000)};
    REQUIRE(word(put(*store, old)) == "ok");
    Operation talkative = new_operation("talkative", status, 1000);
    REQUIRE(word(put(*store, talkative)) == "ok");
    for (std::uint64_t n = 2; n <= 60; ++n) {
        talkative = moved(talkative, status, 1500);
        Commit commit;
        commit.spilled = spill_history(talkative);
        commit.operation = talkative;
        commit.expected_version = n - 1;
        REQUIRE(word(run(store->commit(commit))) == "ok");
    }
    const Operation late = new_operation("late", status, 2000);
    REQUIRE(word(put(*store, late)) == "ok");
    const Operation asked = moved(new_operation("asked", status, 1000), OperationStatus::in_progress, 1500);
    REQUIRE(word(put(*store, new_operation("asked", status, 1000))) == "ok");
    REQUIRE(word(put(*store, asked)) == "ok");
    CHECK(run(store->sweep(at_ms(1000), at_ms(0), at_ms(9000)))->retired == 0);
    CHECK(run(store->sweep(at_ms(2000), at_ms(0), at_ms(9000)))->retired == 2);
    CHECK(run(store->sweep(at_ms(2000), at_ms(0), at_ms(9001)))->retired == 0);
    for (int round = 0; round < 2; ++round) {
        for (const Operation* gone : {&old, &talkative}) {
            const Result<Loaded> loaded = load(*store, *gone);
            REQUIRE(loaded);
            REQUIRE(std::holds_alternative<Tombstone>(*loaded));
            CHECK(std::get<Tombstone>(*loaded) == Tombstone{OperationStatus::cancelled, at_ms(1000), at_ms(9000)});
            CHECK(run(store->load_history(gone->key)).error().kind() == ErrorKind::not_found);
            CHECK(word(put(*store, moved(*gone, OperationStatus::in_progress))) == "conflict");
        }
        CHECK(word(put(*store, old)) == "conflict");
        CHECK(run(store->load_body(old.key, BodyPart::request)).error().kind() == ErrorKind::not_found);
        CHECK(run(store->due(at_ms(10'000), {}, 10))->empty());
        CHECK(stored(*store, late) == late);
        CHECK(stored(*store, asked) == asked);
        CHECK(store->health().open_operations == 2);
        CHECK(run(store->list(ListQuery{}))->operations.size() == 2);
        fixture.restart();
        store = &fixture.store();
    }
    CHECK(run(store->sweep(at_ms(0), at_ms(9001), at_ms(9002)))->forgotten == 2);
    CHECK(is_absent(*store, old));
}

TEMPLATE_TEST_CASE("a sweep of many idle records takes several steps", "[store]", BOTH_STORES) {
    TestType fixture;
    for (int n = 0; n < 600; ++n) {
        const OperationStatus status = n % 10 == 0 ? OperationStatus::unknown : OperationStatus::prepared;
        REQUIRE(word(put(fixture.store(), new_operation("op-" + std::to_string(n), status, 1000))) == "ok");
    }
    CHECK(run(fixture.store().sweep(at_ms(1001), at_ms(0), at_ms(9000)))->retired == 540);
    CHECK(fixture.store().health().open_operations == 60);
}

TEMPLATE_TEST_CASE("a step reference goes with the tombstone of its operation", "[store]", BOTH_STORES) {
    TestType fixture;
    OperationStore* store = &fixture.store();
    const auto step = [&](std::string_view name, std::string_view proposed) {
        return *run(store->allocate_step("default", std::string(name), std::string(proposed)));
    };
    Operation scoped = new_operation("mine", OperationStatus::in_progress, 1000);
    scoped.scope = "stripe";
    scoped.key = operation_key(scoped.tenant, scoped.scope, scoped.id);
    for (const Operation& operation : {new_operation("old", OperationStatus::in_progress, 1000), scoped,
                                       new_operation("late", OperationStatus::in_progress, 1000)}) {
        REQUIRE(word(put(*store, operation)) == "ok");
        const std::int64_t ended = operation.id == "late" ? 9000 : 2000;
        REQUIRE(word(put(*store, moved(operation, OperationStatus::succeeded, ended))) == "ok");
    }
    REQUIRE(step("run-1/step-1", "old") == "old");
    REQUIRE(step("run-1/again", "old") == "old");
    REQUIRE(step("run-1/step-2", "late") == "late");
    REQUIRE(step("key", "stripe\nmine") == "stripe\nmine");
    REQUIRE(step("never used", "nobody") == "nobody");
    CHECK(run(store->sweep(at_ms(3000), at_ms(0), at_ms(10'000)))->retired == 2);
    CHECK(step("run-1/step-1", "other") == "old");
    fixture.restart();
    store = &fixture.store();
    CHECK(run(store->sweep(at_ms(3000), at_ms(10'001), at_ms(20'000)))->forgotten == 2);
    CHECK(step("run-1/step-1", "other") == "other");
    CHECK(step("run-1/again", "third") == "third");
    CHECK(step("run-1/step-2", "other") == "late");
    CHECK(step("key", "stripe\nother") == "stripe\nother");
    CHECK(step("never used", "other") == "nobody");
    fixture.restart();
    store = &fixture.store();
    CHECK(step("run-1/step-1", "more") == "other");
}

TEMPLATE_TEST_CASE("facts are kept through restarts and sweeps", "[store]", BOTH_STORES) {
    using Facts = std::vector<std::string>;
    TestType fixture;
    OperationStore* store = &fixture.store();
    CHECK(run(store->remembered())->empty());
    CHECK(word(run(store->remember("b\nx"))) == "ok");
    CHECK(word(run(store->remember("a"))) == "ok");
    CHECK(word(run(store->remember("a"))) == "ok");
    CHECK(word(run(store->remember(""))) == "invalid");
    CHECK(word(run(store->remember(std::string(1025, 'f')))) == "invalid");
    CHECK(*run(store->remembered()) == Facts{"a", "b\nx"});
    fixture.restart();
    store = &fixture.store();
    CHECK(run(store->sweep(at_ms(9000), at_ms(9000), at_ms(9000))));
    CHECK(*run(store->remembered()) == Facts{"a", "b\nx"});
}
