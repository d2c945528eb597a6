// What every store promises about single records: existence, versions, bodies, history, steps, dates.
#include "adapters/store/rocksdb/rocks_probe.hpp"
#include "core/operation/record_codec.hpp"
#include "store_fixture.hpp"

using namespace opid;
using namespace opid::test;
using namespace std::string_literals;

#define BOTH_STORES MemoryFixture, RocksFixture

TEMPLATE_TEST_CASE("a record is absent, then there, then conflicts", "[store]", BOTH_STORES) {
    TestType fixture;
    const Operation operation = new_operation("op-1");
    CHECK(is_absent(fixture.store(), operation));
    CHECK(word(put(fixture.store(), operation)) == "ok");
    CHECK(stored(fixture.store(), operation) == operation);
    CHECK(word(put(fixture.store(), operation)) == "conflict");
    fixture.restart();
    CHECK(stored(fixture.store(), operation) == operation);
    CHECK(word(put(fixture.store(), operation)) == "conflict");
    CHECK(fixture.store().health().open_operations == 1);
}

TEMPLATE_TEST_CASE("a commit meets the version and epoch that it expects or changes nothing", "[store]", BOTH_STORES) {
    TestType fixture;
    const Operation first = new_operation("op-1");
    const Operation second = moved(first, OperationStatus::unknown);
    const Operation third = moved(second, OperationStatus::needs_review);
    REQUIRE(word(put(fixture.store(), second)) == "conflict");  // nothing stored yet
    REQUIRE(word(put(fixture.store(), first)) == "ok");
    CHECK(word(put(fixture.store(), third)) == "conflict");
    Commit other_epoch = commit_of(second);
    other_epoch.expected_epoch = 8;
    CHECK(word(run(fixture.store().commit(other_epoch))) == "conflict");
    CHECK(stored(fixture.store(), first) == first);
    Commit same_epoch = commit_of(second);
    same_epoch.expected_epoch = 7;
    CHECK(word(run(fixture.store().commit(same_epoch))) == "ok");
    CHECK(word(put(fixture.store(), second)) == "conflict");
    CHECK(word(put(fixture.store(), third)) == "ok");
    fixture.restart();
    CHECK(stored(fixture.store(), first) == third);
    CHECK(word(put(fixture.store(), third)) == "conflict");
}

TEMPLATE_TEST_CASE("a final record stays final", "[store]", BOTH_STORES) {
    TestType fixture;
    const Operation claimed = new_operation("op-1");
    const Operation done = with_response(moved(claimed, OperationStatus::succeeded), "{}");
    REQUIRE(word(put(fixture.store(), claimed)) == "ok");
    REQUIRE(word(put(fixture.store(), done)) == "ok");
    CHECK(stored(fixture.store(), claimed) == done);
    CHECK(fixture.store().health().open_operations == 0);
    CHECK(word(put(fixture.store(), claimed)) == "conflict");
    CHECK(word(put(fixture.store(), moved(done, OperationStatus::prepared))) == "invalid");
    CHECK(word(put(fixture.store(), moved(done, OperationStatus::unknown))) == "invalid");
    const Operation noted = moved(done, OperationStatus::succeeded);  // an event on a final record
    CHECK(word(put(fixture.store(), noted)) == "ok");
    fixture.restart();
    CHECK(stored(fixture.store(), claimed) == noted);
    CHECK(run(fixture.store().in_progress())->empty());

    const Operation at_once = new_operation("op-2", OperationStatus::cancelled);
    CHECK(word(put(fixture.store(), at_once)) == "ok");
    CHECK(stored(fixture.store(), at_once) == at_once);
    CHECK(fixture.store().health().open_operations == 0);
}

TEMPLATE_TEST_CASE("a commit that contradicts itself is invalid", "[store]", BOTH_STORES) {
    TestType fixture;
    Operation operation = new_operation("op-1");
    operation.version = 2;
    Commit commit = commit_of(operation);
    commit.expected_version = 0;
    CHECK(word(run(fixture.store().commit(commit))) == "invalid");
    operation = new_operation("op-1");
    operation.intent.body.size = 11;
    CHECK(word(put(fixture.store(), operation)) == "invalid");
    operation = new_operation("op-1");
    operation.intent.body.external = true;
    operation.intent.body.bytes.clear();
    CHECK(word(put(fixture.store(), operation)) == "invalid");
    operation = new_operation("op-1");
    operation.history[0].sequence = 2;
    CHECK(word(put(fixture.store(), operation)) == "invalid");
    operation = new_operation("op-1");
    operation.history_length = 3;
    CHECK(word(put(fixture.store(), operation)) == "invalid");
    operation = new_operation(std::string(256, 'x'));
    CHECK(word(put(fixture.store(), operation)) == "invalid");
    operation = new_operation("op-1");
    CHECK(is_absent(fixture.store(), operation));
}

TEMPLATE_TEST_CASE("bodies come back byte for byte, inline or beside the record", "[store]", BOTH_STORES) {
    TestType fixture;
    const std::size_t size = GENERATE(std::size_t{1}, std::size_t{4096}, std::size_t{4097}, std::size_t{16777216});
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 8));
    Operation claimed = new_operation("op-1");
    claimed.intent.body = payload(bytes);
    const Operation done = with_response(moved(claimed, OperationStatus::succeeded), bytes + "!");
    REQUIRE(word(put(fixture.store(), claimed)) == "ok");
    REQUIRE(word(put(fixture.store(), done)) == "ok");
    for (int round = 0; round < 2; ++round) {
        const Operation found = stored(fixture.store(), claimed);
        CHECK(found.intent.body.external == (size > 4096));
        CHECK(found.intent.body.size == size);
        CHECK(found.response->body.external == (size + 1 > 4096));
        const Result<std::string> request = run(fixture.store().load_body(claimed.key, BodyPart::request));
        const Result<std::string> response = run(fixture.store().load_body(claimed.key, BodyPart::response));
        if (size > 4096) {
            REQUIRE(request);
            CHECK((*request == bytes));
        } else {
            CHECK((found.intent.body.bytes == bytes));
            CHECK(request.error().kind() == ErrorKind::not_found);
        }
        if (size + 1 > 4096) {
            REQUIRE(response);
            CHECK((*response == bytes + "!"));
        } else {
            CHECK((found.response->body.bytes == bytes + "!"));
        }
        fixture.restart();
    }
}

TEMPLATE_TEST_CASE("a loaded record can be committed again without its outside bodies", "[store]", BOTH_STORES) {
    TestType fixture;
    Operation claimed = new_operation("op-1");
    claimed.intent.body = payload(std::string(5000, 'q'));
    REQUIRE(word(put(fixture.store(), claimed)) == "ok");
    const Operation doubt = with_response(moved(stored(fixture.store(), claimed), OperationStatus::unknown),
                                          std::string(6000, 'e'), 500);
    REQUIRE(word(put(fixture.store(), doubt)) == "ok");
    const Operation waiting = moved(stored(fixture.store(), claimed), OperationStatus::in_progress);
    REQUIRE(waiting.response->body.bytes.empty());
    REQUIRE(word(put(fixture.store(), waiting)) == "ok");
    CHECK(*run(fixture.store().load_body(claimed.key, BodyPart::request)) == std::string(5000, 'q'));
    CHECK(*run(fixture.store().load_body(claimed.key, BodyPart::response)) == std::string(6000, 'e'));
    const Operation done = with_response(moved(waiting, OperationStatus::succeeded), "small");
    REQUIRE(word(put(fixture.store(), done)) == "ok");
    CHECK(stored(fixture.store(), claimed).response->body.bytes == "small");
    CHECK(run(fixture.store().load_body(claimed.key, BodyPart::response)).error().kind() == ErrorKind::not_found);
    CHECK(*run(fixture.store().load_body(claimed.key, BodyPart::request)) == std::string(5000, 'q'));
}

TEMPLATE_TEST_CASE("history stays in order when it is spilled", "[store]", BOTH_STORES) {
    TestType fixture;
    Operation operation = new_operation("op-1");
    REQUIRE(word(put(fixture.store(), operation)) == "ok");
    for (std::uint64_t n = 2; n <= 100; ++n) {
        operation = moved(operation, n % 2 == 0 ? OperationStatus::unknown : OperationStatus::in_progress);
        Commit commit;
        commit.spilled = spill_history(operation);
        commit.operation = operation;
        commit.expected_version = n - 1;
        REQUIRE(word(run(fixture.store().commit(commit))) == "ok");
    }
    fixture.restart();
    const Result<std::vector<HistoryEvent>> history = run(fixture.store().load_history(operation.key));
    REQUIRE(history);
    REQUIRE(history->size() == 100);
    for (std::size_t i = 0; i < 100; ++i) CHECK((*history)[i].sequence == i + 1);
    CHECK(stored(fixture.store(), operation).history.size() <= inline_history_max);
    const OperationKey unknown = operation_key("default", "", "nobody");
    CHECK(run(fixture.store().load_history(unknown)).error().kind() == ErrorKind::not_found);
}

TEMPLATE_TEST_CASE("a step keeps the ID that it was given first", "[store]", BOTH_STORES) {
    TestType fixture;
    CHECK(*run(fixture.store().allocate_step("billing", "run-81/step-4", "op-a")) == "op-a");
    CHECK(*run(fixture.store().allocate_step("billing", "run-81/step-4", "op-b")) == "op-a");
    CHECK(*run(fixture.store().allocate_step("billing", "run-81/step-5", "op-b")) == "op-b");
    CHECK(*run(fixture.store().allocate_step("other", "run-81/step-4", "op-c")) == "op-c");
    const std::string longest = "provider\n" + std::string(255, 'i');  // an ID behind its scope
    CHECK(*run(fixture.store().allocate_step("billing", "s", longest)) == longest);
    fixture.restart();
    CHECK(*run(fixture.store().allocate_step("billing", "run-81/step-4", "op-d")) == "op-a");
    CHECK(run(fixture.store().allocate_step("billing", "", "op-d")).error().kind() == ErrorKind::invalid);
    CHECK(run(fixture.store().allocate_step("billing", "s", "")).error().kind() == ErrorKind::invalid);
    fixture.fill_disk(true);
    CHECK(run(fixture.store().allocate_step("billing", "new", "op-e")).error().kind() == ErrorKind::unavailable);
    CHECK(*run(fixture.store().allocate_step("billing", "run-81/step-5", "op-e")) == "op-b");
}

TEMPLATE_TEST_CASE("due operations come oldest date first", "[store]", BOTH_STORES) {
    TestType fixture;
    const auto add = [&](std::string_view id, NextStepKind kind, std::int64_t at) {
        Operation operation = new_operation(id, OperationStatus::unknown);
        operation.next_step = {kind, at_ms(at)};
        REQUIRE(word(put(fixture.store(), operation)) == "ok");
        return operation;
    };
    const Operation late = add("late", NextStepKind::look_up, 300);
    add("early", NextStepKind::keyed_retry, 100);
    add("middle", NextStepKind::approval, 200);
    add("far", NextStepKind::look_up, 1000);
    add("no step", NextStepKind::none, 50);
    add("no date", NextStepKind::review, 0);
    // What waits for a caller or a person is not swept, however many there are of it.
    for (const OperationStatus waiting : {OperationStatus::prepared, OperationStatus::in_progress,
                                          OperationStatus::awaiting_approval, OperationStatus::needs_review}) {
        Operation operation = new_operation("waits: " + std::string(to_word(waiting)), waiting);
        operation.next_step = {NextStepKind::review, at_ms(50)};
        REQUIRE(word(put(fixture.store(), operation)) == "ok");
    }
    const auto ids = [&](std::int64_t until, std::size_t limit, const DuePlace& after = {}) {
        std::string out;
        const Result<std::vector<Operation>> due = run(fixture.store().due(at_ms(until), after, limit));
        REQUIRE(due);
        for (const Operation& operation : *due) out += operation.id + " ";
        return out;
    };
    CHECK(ids(99, 10) == "");
    CHECK(ids(100, 10) == "early ");
    CHECK(ids(300, 10) == "early middle late ");
    CHECK(ids(300, 2) == "early middle ");
    CHECK(ids(300, 2, {at_ms(100), new_operation("early").key}) == "middle late ");
    CHECK(ids(300, 2, {at_ms(299), {}}) == "late ");
    CHECK(ids(300, 2, {at_ms(300), late.key}) == "");
    fixture.restart();
    CHECK(ids(999, 10) == "early middle late ");
    Operation again = moved(late, OperationStatus::unknown);
    again.next_step.at = at_ms(50);
    REQUIRE(word(put(fixture.store(), again)) == "ok");
    CHECK(ids(300, 10) == "late early middle ");
    REQUIRE(word(put(fixture.store(), moved(again, OperationStatus::failed))) == "ok");
    CHECK(ids(300, 10) == "early middle ");
}

TEMPLATE_TEST_CASE("in_progress finds what an owner left behind", "[store]", BOTH_STORES) {
    TestType fixture;
    REQUIRE(word(put(fixture.store(), new_operation("a"))) == "ok");
    REQUIRE(word(put(fixture.store(), new_operation("b", OperationStatus::unknown))) == "ok");
    REQUIRE(word(put(fixture.store(), new_operation("c"))) == "ok");
    REQUIRE(word(put(fixture.store(), moved(new_operation("c"), OperationStatus::succeeded))) == "ok");
    fixture.restart();
    const Result<std::vector<Operation>> found = run(fixture.store().in_progress());
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    CHECK((*found)[0].id == "a");
    CHECK((*found)[0].owner.epoch == 7);
}

TEMPLATE_TEST_CASE("names and references are bytes, not text", "[store]", BOTH_STORES) {
    TestType fixture;
    const Operation operation = full_operation();
    Commit commit = commit_of(operation);
    Operation before = operation;
    before.version = 1;
    before.history = {event(1, OperationStatus::prepared, OperationStatus::in_progress)};
    before.history_length = 1;
    before.status = OperationStatus::in_progress;
    REQUIRE(word(put(fixture.store(), before)) == "ok");
    Operation after = before;
    after.version = 2;
    after.status = OperationStatus::succeeded;
    REQUIRE(word(put(fixture.store(), after)) == "ok");
    fixture.restart();
    CHECK(stored(fixture.store(), operation) == after);
    ListQuery query;
    query.tenant = operation.tenant;
    query.id = operation.id;
    CHECK(run(fixture.store().list(query))->operations.size() == 1);
    CHECK(*run(fixture.store().allocate_step("t\0\xff"s, "s\0\n"s, "id\xfe")) == "id\xfe");
    CHECK(*run(fixture.store().allocate_step("t\0\xff"s, "s\0\n"s, "other")) == "id\xfe");
}

TEMPLATE_TEST_CASE("a full disk refuses claims, takes outcomes, and heals", "[store]", BOTH_STORES) {
    TestType fixture;
    const Operation claimed = new_operation("op-1");
    const Operation prepared = new_operation("op-2", OperationStatus::prepared);
    REQUIRE(word(put(fixture.store(), claimed)) == "ok");
    REQUIRE(word(put(fixture.store(), prepared)) == "ok");
    fixture.fill_disk(true);
    CHECK_FALSE(fixture.store().health().writable);
    CHECK_FALSE(fixture.store().health().latched);
    CHECK_FALSE(fixture.store().health().reason.empty());
    CHECK(word(put(fixture.store(), new_operation("op-3"))) == "unavailable");
    CHECK(word(put(fixture.store(), moved(prepared, OperationStatus::in_progress))) == "unavailable");
    CHECK(word(put(fixture.store(), moved(claimed, OperationStatus::succeeded))) == "ok");
    CHECK(stored(fixture.store(), prepared) == prepared);
    fixture.fill_disk(false);
    CHECK(fixture.store().health().writable);
    CHECK(word(put(fixture.store(), moved(prepared, OperationStatus::in_progress))) == "ok");
}

TEST_CASE("a tombstone takes at most 64 bytes in the database", "[store][rocks]") {
    RocksFixture fixture;
    const Operation operation = new_operation("op-1", OperationStatus::cancelled, 1'700'000'000'000);
    REQUIRE(word(put(fixture.store(), operation)) == "ok");
    REQUIRE(run(fixture.store().sweep(at_ms(1'800'000'000'000), at_ms(0), at_ms(1'800'000'000'000)))->retired == 1);
    const std::uint64_t size = RocksStoreProbe::stored_bytes(fixture.rocks(), operation.key);
    CHECK(size > 0);
    CHECK(size <= 64);
}

TEST_CASE("the memory store can be cut before and after each call", "[store][memory]") {
    std::string calls;
    unsigned cut_at = 0;
    bool cut_before = true;
    MemoryOptions options;
    options.fault = [&](std::string_view call, unsigned n, bool before) -> Status {
        calls += std::string(call) + (before ? "<" : ">") + std::to_string(n) + " ";
        if (n == cut_at && before == cut_before) return Error(ErrorKind::indeterminate, "cut");
        return ok();
    };
    const Operation operation = new_operation("op-1");
    MemoryStore store(options);
    cut_at = 1;
    CHECK(word(run(store.commit(commit_of(operation)))) == "indeterminate");
    CHECK(calls == "commit<1 ");
    CHECK(store.health().latched);
    CHECK(is_absent(store, operation));
    CHECK(word(run(store.commit(commit_of(operation)))) == "unavailable");

    MemoryStore second(options, store.snapshot());
    cut_at = 1;
    cut_before = false;
    CHECK(word(run(second.commit(commit_of(operation)))) == "indeterminate");
    CHECK(stored(second, operation) == operation);
    MemoryStore third(MemoryOptions{}, second.snapshot());
    CHECK(stored(third, operation) == operation);
    CHECK_FALSE(third.health().latched);
    CHECK(is_absent(store, operation));
}
