// Listings: order, filters, pages.
#include <algorithm>
#include <set>

#include "store_fixture.hpp"

using namespace opid;
using namespace opid::test;

#define BOTH_STORES MemoryFixture, RocksFixture

namespace {

std::string ids(const ListPage& page) {
    std::string out;
    for (const Operation& operation : page.operations) out += operation.id + " ";
    return out;
}

Operation of(std::string_view id, std::string_view tenant, std::string_view provider, OperationStatus status,
             std::int64_t created) {
    Operation out = new_operation(id, status, created);
    out.tenant = tenant;
    out.provider = provider;
    out.key = operation_key(out.tenant, out.scope, out.id);
    return out;
}

template <class Fixture>
void fill(Fixture& fixture) {
    const Operation all[] = {
        of("a", "ann", "stripe", OperationStatus::succeeded, 100),
        of("b", "ann", "slack", OperationStatus::unknown, 200),
        of("c", "bob", "stripe", OperationStatus::failed, 300),
        of("d", "bob", "slack", OperationStatus::succeeded, 400),
        of("e", "ann", "stripe", OperationStatus::needs_review, 500),
        of("a", "bob", "stripe", OperationStatus::succeeded, 600),
    };
    for (const Operation& operation : all) REQUIRE(word(put(fixture.store(), operation)) == "ok");
}

}  // namespace

TEMPLATE_TEST_CASE("a listing is newest first and filtered", "[store]", BOTH_STORES) {
    TestType fixture;
    fill(fixture);
    const auto list = [&](auto change) {
        ListQuery query;
        change(query);
        const Result<ListPage> page = run(fixture.store().list(query));
        REQUIRE(page);
        CHECK(page->next_cursor.empty());
        return ids(*page);
    };
    for (int round = 0; round < 2; ++round) {
        CHECK(list([](ListQuery&) {}) == "a e d c b a ");
        CHECK(list([](ListQuery& q) { q.tenant = "ann"; }) == "e b a ");
        CHECK(list([](ListQuery& q) { q.provider = "slack"; }) == "d b ");
        CHECK(list([](ListQuery& q) { q.provider = "nobody"; }) == "");
        CHECK(list([](ListQuery& q) { q.status = OperationStatus::succeeded; }) == "a d a ");
        CHECK(list([](ListQuery& q) { q.status = OperationStatus::unknown; }) == "b ");
        CHECK(list([](ListQuery& q) { q.since = at_ms(400); }) == "a e d ");
        CHECK(list([](ListQuery& q) { q.id = "a"; }) == "a a ");
        CHECK(list([](ListQuery& q) { q.id = "a"; q.tenant = "ann"; }) == "a ");
        CHECK(list([](ListQuery& q) { q.id = "b"; }) == "b ");
        CHECK(list([](ListQuery& q) { q.id = "b"; q.tenant = "bob"; }) == "");
        CHECK(list([](ListQuery& q) { q.id = "zzz"; }) == "");
        CHECK(list([](ListQuery& q) { q.tenant = "ann"; q.provider = "stripe"; q.since = at_ms(101); }) == "e ");
        fixture.restart();
    }
}

TEMPLATE_TEST_CASE("pages follow each other without gap or repeat", "[store]", BOTH_STORES) {
    TestType fixture;
    std::string expected;
    for (int n = 0; n < 60; ++n) {
        const OperationStatus status = n % 3 == 0 ? OperationStatus::unknown : OperationStatus::succeeded;
        const std::string id = "op-" + std::to_string(n);
        REQUIRE(word(put(fixture.store(), new_operation(id, status, 1000 + n))) == "ok");
        expected.insert(0, id + " ");
    }
    const std::size_t limit = GENERATE(as<std::size_t>{}, 1, 7, 59, 60, 1000);
    std::string all;
    ListQuery query;
    query.limit = limit;
    std::size_t pages = 0;
    do {
        const Result<ListPage> page = run(fixture.store().list(query));
        REQUIRE(page);
        CHECK(page->operations.size() <= limit);
        all += ids(*page);
        query.cursor = page->next_cursor;
        ++pages;
        // What moves between two pages neither vanishes nor comes twice.
        if (pages == 1 && limit == 7) {
            REQUIRE(word(put(fixture.store(), moved(new_operation("op-0", OperationStatus::unknown, 1000),
                                                    OperationStatus::failed))) == "ok");
        }
    } while (!query.cursor.empty());
    CHECK(all == expected);
    CHECK(pages == (60 + limit - 1) / limit);
}

TEMPLATE_TEST_CASE("equal times are no trouble for a cursor", "[store]", BOTH_STORES) {
    TestType fixture;
    for (int n = 0; n < 20; ++n) {
        const OperationStatus status = n % 2 == 0 ? OperationStatus::prepared : OperationStatus::failed;
        REQUIRE(word(put(fixture.store(), new_operation("op-" + std::to_string(n), status, 5))) == "ok");
    }
    std::set<std::string> seen;
    ListQuery query;
    query.limit = 3;
    do {
        const Result<ListPage> page = run(fixture.store().list(query));
        REQUIRE(page);
        for (const Operation& operation : page->operations) CHECK(seen.insert(operation.id).second);
        query.cursor = page->next_cursor;
    } while (!query.cursor.empty());
    CHECK(seen.size() == 20);
}

// One ID may name an operation in several scopes, and a millisecond may see many begin: the place in the listing is
// what tells them apart, whether they are open or final, and while they move.
TEMPLATE_TEST_CASE("a walk over open and final operations meets each one once", "[store]", BOTH_STORES) {
    TestType fixture;
    const OperationStatus statuses[] = {OperationStatus::prepared,  OperationStatus::succeeded,
                                        OperationStatus::unknown,   OperationStatus::failed,
                                        OperationStatus::cancelled, OperationStatus::needs_review};
    std::vector<Operation> all;
    for (int n = 0; n < 75; ++n) {
        const std::int64_t created = n < 10 ? 1 : 1000 + n / 20;  // old ones, then twenty a millisecond
        Operation operation = new_operation("op-" + std::to_string(n / 2), statuses[n % 6], created);
        operation.scope = n % 2 == 0 ? "" : "stripe";
        operation.key = operation_key(operation.tenant, operation.scope, operation.id);
        REQUIRE(word(put(fixture.store(), operation)) == "ok");
        all.push_back(std::move(operation));
    }
    for (std::size_t limit = 1; limit <= 7; ++limit) {
        INFO("limit " << limit);
        std::vector<std::pair<Instant, OperationKey>> seen;
        ListQuery query;
        query.limit = limit;
        std::size_t pages = 0;
        do {
            const Result<ListPage> page = run(fixture.store().list(query));
            REQUIRE(page);
            for (const Operation& operation : page->operations) seen.emplace_back(operation.created, operation.key);
            query.cursor = page->next_cursor;
            // An open one becomes final in the midst of the walk: 12, 18, 24 ... are prepared at first.
            const std::size_t moving = 6 * (limit + 1);
            if (++pages == 3) {
                all[moving] = moved(all[moving], OperationStatus::cancelled);
                REQUIRE(word(put(fixture.store(), all[moving])) == "ok");
            }
        } while (!query.cursor.empty());
        CHECK(seen.size() == 75);
        CHECK(std::is_sorted(seen.rbegin(), seen.rend()));
        CHECK(std::set<std::pair<Instant, OperationKey>>(seen.begin(), seen.end()).size() == 75);
        CHECK(pages == (75 + limit - 1) / limit);
    }
}

TEMPLATE_TEST_CASE("a made-up cursor is invalid", "[store]", BOTH_STORES) {
    TestType fixture;
    ListQuery query;
    const std::string made_up[] = {"x", std::string(80, 'z'), std::string(80, 'f'), std::string(82, '0')};
    for (const std::string& cursor : made_up) {
        query.cursor = cursor;
        CHECK(run(fixture.store().list(query)).error().kind() == ErrorKind::invalid);
    }
}
