#include <catch2/catch.hpp>

#include "loading.hpp"

using namespace opid;

TEST_CASE("every mistake in opid.yaml is told with its line and what to write instead") {
    struct Row {
        const char* text;
        const char* expected;
    };
    const Row rows[] = {
        {"lisen: {}", "c.yaml:1: unknown key 'lisen' (did you mean 'listen'?)\n"},
        {"foo: 1", "c.yaml:1: unknown key 'foo'\n"},
        {"[1]", "c.yaml:1: expected a map, found a list\n"},
        {"listen: []", "c.yaml:1: listen: expected a map, found a list\n"},
        {"listen:\n  prox: 1", "c.yaml:2: listen: unknown key 'prox' (did you mean 'proxy'?)\n"},
        {"listen: {proxy: 8080}", "c.yaml:1: listen.proxy: expected an address such as 127.0.0.1:8080, found '8080'\n"},
        {"listen: {proxy: \"localhost:65536\"}",
         "c.yaml:1: listen.proxy: expected an address such as 127.0.0.1:8080, found 'localhost:65536'\n"},
        {"listen: {proxy: [a]}", "c.yaml:1: listen.proxy: expected an address such as 127.0.0.1:8080, found a list\n"},
        {"listen: {admin: \"127.0.0.1:8080\"}",
         "c.yaml:1: listen: proxy and admin have the same address 127.0.0.1:8080\n"},
        {"listen: {proxy: \"0.0.0.0:80\"}",
         "c.yaml:1: listen: proxy 0.0.0.0:80 is reachable from other machines, which needs tenants with tokens\n"},
        {"listen:\n  providers: {a: \"10.0.0.1:80\"}",
         "c.yaml:2: listen: providers.a 10.0.0.1:80 is reachable from other machines, which needs tenants with "
         "tokens\n"},
        {"data: [a]", "c.yaml:1: data: expected a text, found a list\n"},
        {"data:", "c.yaml:1: data: expected a text, found nothing\n"},
        {"data:\n\nvia: a", "c.yaml:1: data: expected a text, found nothing\n"},
        {"data: a\ndata: b", "c.yaml:2: data: stands here twice, first in line 1\n"},
        {"store: {engine: rocks}",
         "c.yaml:1: store.engine: expected one of rocksdb, postgres; found 'rocks' (did you mean 'rocksdb'?)\n"},
        {"store: {engine: postgres}", "c.yaml:1: store.engine: postgres needs store.dsn, for example env:OPID_DSN\n"},
        {"store: {dsn: env:DSN}", "c.yaml:1: store.dsn: only engine: postgres takes a dsn\n"},
        {"store: {engine: postgres, dsn: \"postgres://u:hunter2@h/d\"}",
         "c.yaml:1: store.dsn: a secret is not written here; refer to it with env:NAME or file:PATH\n"},
        {"policies: [nowhere]",
         "c.yaml:1: policies: there is no file or folder nowhere in . or the working directory\n"},
        {"policies: {a: b}", "c.yaml:1: policies: expected a list of folders and files, found a map\n"},
        {"tenants: [{name: a}]", "c.yaml:1: tenants[0]: 'tokens' is missing\n"},
        {"tenants: [{tokens: [env:TOKEN_A]}]", "c.yaml:1: tenants[0]: 'name' is missing\n"},
        {"tenants: [{name: a b, tokens: [env:TOKEN_A]}]",
         "c.yaml:1: tenants[0].name: a name has up to 64 letters, digits, '.', '-' and '_'\n"},
        {"tenants: [{name: a, tokens: []}]", "c.yaml:1: tenants[0].tokens: a tenant needs at least one token\n"},
        {"tenants: [{name: a, tokens: [hunter2]}]",
         "c.yaml:1: tenants[0].tokens[0]: a secret is not written here; refer to it with env:NAME or file:PATH\n"},
        {"tenants: [{name: a, tokens: [env:NOT_SET]}]",
         "c.yaml:1: tenants[0].tokens[0]: the environment variable NOT_SET is not set\n"},
        {"tenants: [{name: a, tokens: [env:EMPTY]}]",
         "c.yaml:1: tenants[0].tokens[0]: the environment variable EMPTY is empty\n"},
        {"tenants: [{name: a, tokens: [\"env:A B\"]}]",
         "c.yaml:1: tenants[0].tokens[0]: expected env:NAME with the name of an environment variable\n"},
        {"tenants: [{name: a, tokens: [file:/nowhere/t]}]",
         "c.yaml:1: tenants[0].tokens[0]: there is no file /nowhere/t\n"},
        {"tenants:\n- {name: a, tokens: [env:TOKEN_A]}\n- {name: a, tokens: [env:TOKEN_B]}",
         "c.yaml:3: tenants[1].name: 'a' is there already\n"},
        {"tenants:\n- {name: a, tokens: [env:TOKEN_A]}\n- {name: b, tokens: [env:TOKEN_A]}",
         "c.yaml:3: tenants[1].tokens[0]: this token is in use already; each is for one tenant\n"},
        {"tenants: {a: b}", "c.yaml:1: tenants: expected a list, found a map\n"},
        {"limits: {request_body: 16MB}",
         "c.yaml:1: limits.request_body: expected a size such as 16MiB (units: B KiB MiB GiB), found '16MB'\n"},
        {"limits: {request_body: 5GiB}",
         "c.yaml:1: limits.request_body: has to be between 1KiB and 4GiB, found 5GiB\n"},
        {"limits: {fields: many}", "c.yaml:1: limits.fields: expected a whole number, found 'many'\n"},
        {"limits: {fields: 3}", "c.yaml:1: limits.fields: has to be between 8 and 65536, found 3\n"},
        {"limits: {request_bdoy: 1KiB}",
         "c.yaml:1: limits: unknown key 'request_bdoy' (did you mean 'request_body'?)\n"},
        {"limits: {target: 1MiB}", "c.yaml:1: limits.target: is larger than head, which holds it\n"},
        {"limits: {body_memory: 1MiB, memory_body: 2MiB}",
         "c.yaml:1: limits.body_memory: is smaller than memory_body, so no such body would fit\n"},
        {"timeouts: {connect: 5}",
         "c.yaml:1: timeouts.connect: expected a duration such as 30s (units: ms s m h d), found '5'\n"},
        {"timeouts: {connect: 2d}", "c.yaml:1: timeouts.connect: has to be between 10ms and 1h, found 2d\n"},
        {"timeouts: {upstream-response: 1s}",
         "c.yaml:1: timeouts: unknown key 'upstream-response' (did you mean 'upstream_response'?)\n"},
        {"retention: {records: 500d}",
         "c.yaml:1: retention.tombstones: is shorter than records: an ID would be forgotten while its record may still "
         "be asked for\n"},
        {"egress: {deny: [10.0.0.1/8]}",
         "c.yaml:1: egress.deny: '10.0.0.1/8' is no CIDR, host pattern, private or metadata\n"},
        {"egress: {deny: [privat]}",
         "c.yaml:1: egress.deny: 'privat' is no class; did you mean 'private'? A host of that name is written "
         "'privat.'\n"},
        {"egress: {resolve: {a.test: \"127.0.0.1:1\"}}",
         "c.yaml:1: egress.resolve: expected \"name:port\", found 'a.test'\n"},
        {"egress: {resolve: {\"a.test:1\": b.test}}",
         "c.yaml:1: egress.resolve.a.test:1: expected \"ip:port\", found 'b.test'\n"},
        {"admin: {tokens: [{name: a, role: operater, token: env:TOKEN_A}]}",
         "c.yaml:1: admin.tokens[0].role: expected one of viewer, approver, operator; found 'operater' (did you mean "
         "'operator'?)\n"},
        {"admin: {tokens: [{name: a, role: viewer, token: abc}]}",
         "c.yaml:1: admin.tokens[0].token: a secret is not written here; refer to it with env:NAME or file:PATH\n"},
        {"admin: {tokens: [{name: a, token: env:TOKEN_A}]}", "c.yaml:1: admin.tokens[0]: 'role' is missing\n"},
        {"approvals: {keys: [{id: a, algorithm: none, key: env:TOKEN_A}]}",
         "c.yaml:1: approvals.keys[0].algorithm: expected one of EdDSA, HS256; found 'none'\n"},
        {"via: a b", "c.yaml:1: via: expected off or a pseudonym without blanks, found 'a b'\n"},
        {"log: {level: loud}", "c.yaml:1: log.level: expected one of debug, info, warning, error; found 'loud'\n"},
        {"threads: 1000", "c.yaml:1: threads: has to be between 0 and 256, found 1000\n"},
        {"a: &x 1", "c.yaml:1: anchors (&name) are not allowed; write the value out\n"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(settings_problems(row.text) == row.expected);
    }
}

TEST_CASE("all problems are told at once, none of them with a secret") {
    const std::string text =
        "listen: {proxi: a}\n"
        "limits: {head: x}\n"
        "tenants: [{name: a, tokens: [hunter2]}]\n"
        "nonsense: hunter2\n";
    CHECK(settings_problems(text) ==
          "c.yaml:1: listen: unknown key 'proxi' (did you mean 'proxy'?)\n"
          "c.yaml:3: tenants[0].tokens[0]: a secret is not written here; refer to it with env:NAME or file:PATH\n"
          "c.yaml:2: limits.head: expected a size such as 16MiB (units: B KiB MiB GiB), found 'x'\n"
          "c.yaml:4: unknown key 'nonsense'\n");
}

TEST_CASE("a file of nothing but mistakes ends after a hundred") {
    std::string text;
    for (int i = 0; i < 40000; ++i) text += "k" + std::to_string(i) + ": 1\n";
    CHECK(load_settings_text(text, "c.yaml", test_sources()).problems.size() == 100);
}
