#include "core/identity/key_encoding.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace opid;

namespace {

std::string key(KeyAlphabet alphabet, std::size_t length, KeySubject subject = {"default", "stripe", "op-1", 1}) {
    const auto encoding = KeyEncoding::make(alphabet, length);
    REQUIRE(encoding);
    return derive_provider_key(subject, *encoding);
}

std::string refusal(KeyAlphabet alphabet, std::size_t length) {
    const auto encoding = KeyEncoding::make(alphabet, length);
    return encoding ? "" : encoding.error().what();
}

}  // namespace

// FROZEN: keys of open operations were sent to providers; these texts may never change.
TEST_CASE("keys that were sent once stay the same for ever") {
    CHECK(key(KeyAlphabet::base32hex, 32) == "mob8vtvud67vn1phqq71isn7lrd14mjm");
    CHECK(key(KeyAlphabet::hex, 40) == "68b8fdfed67f7191aa712c775bd146361408a4cd");
    CHECK(key(KeyAlphabet::base64url, 22) == "24rofd_eNmnf3BZR66nhS8");
    CHECK(key(KeyAlphabet::digits, 20) == "80385325891993967520");
    CHECK(key(KeyAlphabet::alnum, 11) == "uwhiXVaJcdV");
    CHECK(key(KeyAlphabet::uuid4, 0) == "76782ba8-5f5d-4fde-8d26-271f778199d1");
    CHECK(key(KeyAlphabet::uuid8, 36) == "76782ba8-5f5d-8fde-8d26-271f778199d1");
}

TEST_CASE("each key has its length and alphabet") {
    const std::pair<KeyAlphabet, const char*> alphabets[] = {
        {KeyAlphabet::base32hex, "0123456789abcdefghijklmnopqrstuv"},
        {KeyAlphabet::hex, "0123456789abcdef"},
        {KeyAlphabet::base64url, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"},
        {KeyAlphabet::digits, "0123456789"},
        {KeyAlphabet::alnum, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}};
    for (const auto& [alphabet, characters] : alphabets) {
        for (const std::size_t length : {20u, 40u, 255u}) {
            const std::string text = key(alphabet, length);
            CHECK(text.size() == length);
            CHECK(text.find_first_not_of(characters) == std::string::npos);
        }
        const std::string longest = key(alphabet, 255);  // every character of the alphabet is in use
        CHECK(std::set<char>(longest.begin(), longest.end()).size() > std::string(characters).size() * 3 / 4);
    }
    const std::string uuid = key(KeyAlphabet::uuid4, 36);
    CHECK(uuid.size() == 36);
    CHECK(uuid[14] == '4');
    CHECK(std::string("89ab").find(uuid[19]) != std::string::npos);
    CHECK(key(KeyAlphabet::uuid8, 0)[14] == '8');
}

TEST_CASE("any part of the subject makes another key") {
    const KeySubject base{"t", "p", "operation", 1};
    std::set<std::string> keys;
    for (const KeySubject& subject : {base, KeySubject{"t2", "p", "operation", 1},
                                      KeySubject{"t", "p2", "operation", 1}, KeySubject{"t", "p", "operation2", 1},
                                      KeySubject{"t", "p", "operation", 2}, KeySubject{"tp", "", "operation", 1},
                                      KeySubject{"", "tp", "operation", 1}, KeySubject{"t", "po", "peration", 1}}) {
        keys.insert(derive_provider_key(subject, KeyEncoding()));
    }
    CHECK(keys.size() == 8);
    CHECK(derive_provider_key(base, KeyEncoding()) == derive_provider_key(base, KeyEncoding()));
    const std::string prefix = "agent-run-2026-03-11T09:15:00Z/billing-flow/step-0007/capture-";
    const std::string a = prefix + "A";
    const std::string b = prefix + "B";
    const auto forty = *KeyEncoding::make(KeyAlphabet::base32hex, 40);
    CHECK(derive_provider_key({"t", "p", a, 1}, forty) != derive_provider_key({"t", "p", b, 1}, forty));
}

TEST_CASE("an encoding that could give two operations one key is refused") {
    CHECK(refusal(KeyAlphabet::base32hex, 13).empty());
    CHECK(refusal(KeyAlphabet::hex, 16).empty());
    CHECK(refusal(KeyAlphabet::base64url, 11).empty());
    CHECK(refusal(KeyAlphabet::digits, 20).empty());
    CHECK(refusal(KeyAlphabet::alnum, 11).empty());
    CHECK(refusal(KeyAlphabet::base32hex, 12) ==
          "12 characters of base32hex hold 60 bits; two operations could get one key: use 13 or more");
    CHECK(refusal(KeyAlphabet::hex, 15) ==
          "15 characters of hex hold 60 bits; two operations could get one key: use 16 or more");
    CHECK_FALSE(refusal(KeyAlphabet::base64url, 10).empty());
    CHECK_FALSE(refusal(KeyAlphabet::digits, 19).empty());
    CHECK_FALSE(refusal(KeyAlphabet::alnum, 10).empty());
    CHECK_FALSE(refusal(KeyAlphabet::hex, 0).empty());
    CHECK_FALSE(refusal(KeyAlphabet::hex, 256).empty());
    CHECK_FALSE(refusal(KeyAlphabet::uuid4, 32).empty());
    CHECK(*parse_key_alphabet("uuid") == KeyAlphabet::uuid4);
    CHECK(*parse_key_alphabet("alnum") == KeyAlphabet::alnum);
    CHECK_FALSE(parse_key_alphabet("base64").has_value());
}
