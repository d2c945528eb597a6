#include <catch2/catch.hpp>

#include <filesystem>

#include "loading.hpp"

using namespace opid;

TEST_CASE("every mistake in a profile is told with its line and what to write instead") {
    struct Row {
        const char* lines;  // from line 3 on
        const char* expected;
    };
    const Row rows[] = {
        {"verdict: []", "p.yaml:3: unknown key 'verdict' (did you mean 'verdicts'?)\n"},
        {"upstream: ftp://x",
         "p.yaml:3: upstream: expected http:// or https:// with a host and maybe a path, found 'ftp://x'\n"},
        {"upstream: https://u@x",
         "p.yaml:3: upstream: expected http:// or https:// with a host and maybe a path, found 'https://u@x'\n"},
        {"upstream_address: a.test",
         "p.yaml:3: upstream_address: expected an address such as 127.0.0.1:9443, found 'a.test'\n"},
        {"tls: {ca: ca.pem}", "p.yaml:3: tls.ca: expected file:PATH, found 'ca.pem'\n"},
        {"tls: {ca: file:/nowhere/ca.pem}", "p.yaml:3: tls.ca: there is no file /nowhere/ca.pem\n"},
        {"credentials: {value: sk_live_1}",
         "p.yaml:3: credentials.value: a secret is not written here; refer to it with env:NAME or file:PATH\n"},
        {"credentials: {value: env:TWO_LINES}",
         "p.yaml:3: credentials.value: holds characters that a header can't carry\n"},
        {"credentials: {value: env:NOT_SET}",
         "p.yaml:3: credentials.value: the environment variable NOT_SET is not set\n"},
        {"identity: {from: [\"a b\"]}",
         "p.yaml:3: identity.from: expected a header name, body:/pointer or query:name, found 'a b'\n"},
        {"identity: {from: [\"body:x\"]}",
         "p.yaml:3: identity.from: expected a JSON pointer such as /error/code, found 'x'\n"},
        {"identity: {from: []}", "p.yaml:3: identity.from: names no place for an operation ID\n"},
        {"identity: {missing: rejct}",
         "p.yaml:3: identity.missing: expected one of reject, pass, observe; found 'rejct' (did you mean 'reject'?)\n"},
        {"key: {carrier: header:Host}",
         "p.yaml:3: key.carrier: the header host has another meaning and can't carry a key\n"},
        {"key: header:Operation-Id",
         "p.yaml:3: key: the header operation-id has another meaning and can't carry a key\n"},
        {"key: mime:Message-ID",
         "p.yaml:3: key: opid can't put a key at 'mime:Message-ID' yet; use carrier: none, so that nothing is sent a "
         "second time on the strength of it\n"},
        {"key: \"graphql:@idempotent\"",
         "p.yaml:3: key: opid can't put a key at 'graphql:@idempotent' yet; use carrier: none, so that nothing is sent "
         "a second time on the strength of it\n"},
        {"key: cookie:x",
         "p.yaml:3: key: key carrier 'cookie:x': use none, header:NAME, body:/pointer, form:NAME, query:NAME, "
         "path:{name} or graphql:variable\n"},
        {"key: \"path:{id}\"", "p.yaml:3: key: a path carrier belongs into a rule whose match.path has the {name}\n"},
        {"rules:\n- {match: {path: /a}, key: \"path:{id}\"}",
         "p.yaml:4: rules[0].key: match.path has no {id} that could carry the key\n"},
        {"key: {carrier: header:K, max_length: 25}",
         "p.yaml:3: key: derived keys have 32 characters, but the provider takes 1 to 25: set encoding\n"},
        {"key: {carrier: header:K, max_length: 40, encoding: {length: 43}}",
         "p.yaml:3: key: derived keys have 43 characters, but the provider takes 1 to 40: set encoding\n"},
        {"key: {carrier: header:K, encoding: {length: 256}}",
         "p.yaml:3: key.encoding.length: has to be between 1 and 255, found 256\n"},
        {"key: {carrier: header:K, quotd: true}", "p.yaml:3: key: unknown key 'quotd' (did you mean 'quoted'?)\n"},
        {"key: {carrier: body:/id, quoted: true}", "p.yaml:3: key: quoted: is for keys in a header\n"},
        {"key: {carrier: header:K, quoted: yes}", "p.yaml:3: key.quoted: expected true or false, found 'yes'\n"},
        {"key: {carrier: header:K, window: soon}",
         "p.yaml:3: key.window: expected a duration, forever, or {for, bound, margin}; found 'soon'\n"},
        {"key: {carrier: header:K, window: {for: 1h, margin: 1h}}",
         "p.yaml:3: key.window.margin: is as long as the window, so the key would never be used again\n"},
        {"key: {carrier: header:K, window: {for: 1h, bound: forever}}",
         "p.yaml:3: key.window.for: this bound has no duration: the key does not lapse by time\n"},
        {"key: {carrier: header:K, window: {bound: about}}",
         "p.yaml:3: key.window.bound: expected one of exactly, at_least, forever, while_object_exists, while_open, "
         "client_chosen, unpublished; found 'about'\n"},
        {"key: {carrier: header:K, stores: [2x]}",
         "p.yaml:3: key.stores: expected statuses such as 409, 5xx or 500-504, found '2x'\n"},
        {"key: {carrier: header:K, proof: {status: 200}}",
         "p.yaml:3: key.proof: needs a header or a body condition: a status alone proves nothing\n"},
        {"intent: {ignore: [trace]}",
         "p.yaml:3: intent.ignore: expected a JSON pointer such as /items/*/id, found 'trace'\n"},
        {"intent: {headers: [Authorization]}",
         "p.yaml:3: intent.headers: Authorization is never part of an intent: it differs between honest retries\n"},
        {"intent: {money: [{at: /a, currency: euro}]}",
         "p.yaml:3: intent.money[0].currency: expected a JSON pointer or a code such as USD, found 'euro'\n"},
        {"intent: {money: [{at: /a}]}", "p.yaml:3: intent.money[0]: 'currency' is missing\n"},
        {"verdicts:\n- {status: 409, verdict: inflight}",
         "p.yaml:4: verdicts[0].verdict: expected one of succeeded, failed, not_executed, unknown, in_flight, "
         "mismatch, duplicate, replayed; found 'inflight' (did you mean 'in_flight'?)\n"},
        {"verdicts:\n- {verdict: failed}",
         "p.yaml:4: verdicts[0]: has no condition (status, body or header) and would hold for every answer\n"},
        {"verdicts:\n- {status: 409}", "p.yaml:4: verdicts[0]: 'verdict' is missing\n"},
        {"verdicts:\n- {status: 409, body: {error: x}, verdict: failed}",
         "p.yaml:4: verdicts[0].body: expected a JSON pointer such as /error/code, found 'error'\n"},
        {"verdicts:\n- {status: 409, body: {/a: [x]}, verdict: failed}",
         "p.yaml:4: verdicts[0].body./a: expected a value, found a list; for one of several write {one_of: [...]}\n"},
        {"verdicts:\n- {status: 409, body: {/a: {matches: \"(\"}}, verdict: failed}",
         "p.yaml:4: verdicts[0].body./a.matches: not a regular expression: missing ): (\n"},
        {"verdicts:\n- {status: 409, body: {/a: {match: x}}, verdict: failed}",
         "p.yaml:4: verdicts[0].body./a: unknown key 'match' (did you mean 'matches'?)\n"},
        {"verdicts:\n- {status: 409, body: {/a: {one_of: []}}, verdict: failed}",
         "p.yaml:4: verdicts[0].body./a.one_of: expected a list of values, found a list\n"},
        {"verdicts: {}", "p.yaml:3: verdicts: expected a list of verdicts, found a map\n"},
        {"rules:\n- {name: a}", "p.yaml:4: rules[0]: 'match' is missing\n"},
        {"rules:\n- {match: {method: post}}",
         "p.yaml:4: rules[0].match.method: 'post': methods are case-sensitive (did you mean 'POST'?)\n"},
        {"rules:\n- {match: {path: v1}}", "p.yaml:4: rules[0].match.path: a path pattern begins with '/'\n"},
        {"rules:\n- {match: {}}", "p.yaml:4: rules[0].match: is empty and would match every request\n"},
        {"rules:\n- {match: {graphql: {operation: mutate}}}",
         "p.yaml:4: rules[0].match.graphql.operation: expected one of query, mutation, subscription; found 'mutate'\n"},
        {"rules:\n- {match: {path: /a}, class: reed}",
         "p.yaml:4: rules[0].class: expected one of read, write; found 'reed' (did you mean 'read'?)\n"},
        {"rules:\n- {match: {path: /a}, class: read, approval: required}",
         "p.yaml:4: rules[0].approval: a rule of class read lets requests through; it can't ask for an approval\n"},
        {"rules:\n- {name: a, match: {path: /a}}\n- {name: a, match: {path: /b}}",
         "p.yaml:5: rules[1]: another rule is called 'a' too\n"},
        {"rules:\n- {name: default, match: {path: /a}}",
         "p.yaml:4: rules[0].name: 'default' is the rule for requests that no other one matches\n"},
        {"rules:\n- {match: {path: /a}, mark: {body: x}}",
         "p.yaml:4: rules[0].mark.body: expected a JSON pointer such as /error/code, found 'x'\np.yaml:4: "
         "rules[0].mark: expected {body: /pointer} or {form: name}\n"},
        {"rules:\n- {match: {path: /a}, recovery: [{keyed_retry: {}}]}",
         "p.yaml:4: rules[0].recovery: keyed_retry needs a key that the provider honours here, or repeatable: true\n"},
        {"recovery: [{keyed_rety: {}}]",
         "p.yaml:3: recovery[0]: expected keyed_retry, look_up or review, found 'keyed_rety' (did you mean "
         "'keyed_retry'?)\n"},
        {"recovery: [review]", "p.yaml:3: recovery[0]: expected one step: keyed_retry, look_up or review\n"},
        {"recovery: [{review: {}}, {look_up: {get: \"/{operation_id}\"}}]",
         "p.yaml:3: recovery[1]: stands behind review, which ends the ladder\n"},
        {"recovery: [{keyed_retry: {attempts: 0}}]",
         "p.yaml:3: recovery[0].keyed_retry.attempts: has to be between 1 and 30, found 0\n"},
        {"recovery: [{keyed_retry: {backoff: 60s..1s}}]",
         "p.yaml:3: recovery[0].keyed_retry.backoff: expected durations such as 1s..60s, found '60s..1s'\n"},
        {"recovery: [{look_up: {get: /x}}]",
         "p.yaml:3: recovery[0].look_up.get: nothing in this look-up names the operation, so it can't find its "
         "effect\n"},
        {"recovery: [{look_up: {get: \"/x?q={op}\"}}]",
         "p.yaml:3: recovery[0].look_up.get: unknown template '{op}'; there are {operation_id}, {provider_key}, "
         "{path:name} and {request:/pointer}\n"},
        {"recovery: [{look_up: {get: \"x{operation_id}\"}}]",
         "p.yaml:3: recovery[0].look_up.get: has to begin with '/': it is a path at the same upstream\n"},
        {"recovery: [{look_up: {where: {/a: \"{operation_id}\"}}}]",
         "p.yaml:3: recovery[0].look_up: 'get' is missing\n"},
        {"rules:\n- {match: {path: /a}, recovery: [{look_up: {get: \"/a/{path:id}\"}}]}",
         "p.yaml:4: rules[0].recovery: the look-up uses {path:id}, but match.path has no {id}\n"},
        {"allow: []", "p.yaml:3: allow: expected a list of requests; without the key everything is allowed\n"},
        {"facts: {source: x}", "p.yaml:3: facts: 'confidence' is missing\n"},
        {"facts: {confidence: sure}",
         "p.yaml:3: facts.confidence: expected one of verified, partial, unverified; found 'sure'\n"},
        {"problems: slck",
         "p.yaml:3: problems: expected one of problem, slack, graphql, jsonrpc; found 'slck' (did you mean "
         "'slack'?)\n"},
        {"reference: id", "p.yaml:3: reference: expected header:NAME or body:/pointer, found 'id'\n"},
    };
    for (const Row& row : rows) {
        INFO(row.lines);
        CHECK(profile_problems(profile_around(row.lines)) == row.expected);
    }
}

TEST_CASE("names and hosts") {
    CHECK(profile_problems("") == "p.yaml: 'provider' is missing\np.yaml: 'hosts' is missing\n");
    CHECK(profile_problems("provider: A B\nhosts: [a.test]\n")
              .find("p.yaml:1: provider: a provider's name has up to 63") == 0);
    for (const char* host : {"\"*\"", "a.test/x", "\"https://a.test\"", "\"a b\"", "\"a.test:0\"", "\"*.1.2.3.4\"",
                             "\"a.*.test\"", "u@a.test"}) {
        INFO(host);
        CHECK(profile_problems(std::string("provider: p\nhosts: [") + host + "]\n")
                  .find("p.yaml:2: hosts: expected host, host:port or *.example.com, found ") == 0);
    }
    CHECK(profile_problems("provider: p\nhosts: [a.test, A.test]\n") ==
          "p.yaml:2: hosts: 'a.test' stands there twice\n");
    CHECK(profile_problems("provider: p\nhosts: []\n") == "p.yaml:2: hosts: is empty\n");
}

TEST_CASE("keys that can't be told apart are refused") {
    for (const char* encoding :
         {"{length: 8}", "{alphabet: digits, length: 12}", "{alphabet: uuid, length: 20}", "roman"}) {
        INFO(encoding);
        const std::string text = profile_problems(
            profile_around(std::string("key: {carrier: header:K, encoding: ") + encoding + "}\n"));
        CHECK(text.find("p.yaml:3: key.encoding: ") == 0);
    }
}

TEST_CASE("two files about one thing") {
    const auto problems = [](const std::string& first, const std::string& second) {
        const LoadedProfiles loaded = load_profile_texts({{"a.yaml", first}, {"b.yaml", second}}, test_sources());
        CHECK(loaded.profiles.has_value() == loaded.problems.empty());
        return to_text(loaded.problems);
    };
    CHECK(problems("provider: a\nhosts: [a.test]", "provider: a\nhosts: [b.test]") ==
          "b.yaml:1: provider: the provider a is in a.yaml already\n");
    CHECK(problems("provider: a\nhosts: [a.test]", "provider: b\nhosts: [A.test]") ==
          "b.yaml:2: hosts: the host a.test is in a.yaml already\n");
    CHECK(problems("provider: a\nhosts: [a.test]", "provider: b\nhosts: [\"a.test:1\"]").empty());
    CHECK(problems("provider: a\nhosts: [a.test]", "provider: b\nhosts: [b.test]\nx: 1") ==
          "b.yaml:3: unknown key 'x'\n");
}

TEST_CASE("files that can't be read") {
    CHECK(to_text(load_profiles({"/nowhere/p.yaml"}, test_sources()).problems) == "/nowhere/p.yaml: no such file\n");
    CHECK(load_profiles({}, test_sources()).profiles.has_value());
}
