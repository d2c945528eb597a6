#include "core/operation/record_codec.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "../../../conformance/sample_operation.hpp"
#include "base/encoding.hpp"
#include "record.pb.h"

using namespace opid;
using namespace opid::test;
using namespace std::string_literals;

namespace {

std::string golden_path(const std::string& name) {
    return std::string(OPID_SOURCE_DIR) + "/tests/golden/record_v1/" + name + ".hex";
}

bool updating() {
    const char* mode = std::getenv("OPID_GOLDEN");
    return mode != nullptr && mode == "update"s;
}

// The frozen bytes; with OPID_GOLDEN=update they become the present ones.
std::string golden(const std::string& name, const std::string& present) {
    if (updating()) {
        std::ofstream out(golden_path(name));
        const std::string text = hex(present);
        for (std::size_t at = 0; at < text.size(); at += 96) out << text.substr(at, 96) << '\n';
    }
    std::ifstream in(golden_path(name));
    std::string text;
    for (std::string line; std::getline(in, line);) text += line;
    const std::optional<std::string> bytes = from_hex(text);
    INFO(golden_path(name));
    REQUIRE(bytes);
    REQUIRE_FALSE(bytes->empty());
    return *bytes;
}

std::string key_hex(std::string_view tenant, std::string_view scope, std::string_view id) {
    const OperationKey key = operation_key(tenant, scope, id);
    return hex({reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()});
}

std::string problem_of(const std::string& bytes) {
    const Result<Operation> decoded = decode_operation(bytes);
    return decoded ? "none" : decoded.error().what();
}

// Protobuf takes the last value of a field: appending one overrides it.
std::string varint_field(unsigned number, std::uint8_t value) {
    std::string out;
    unsigned tag = number << 3;
    if (tag >= 0x80) {
        out.push_back(static_cast<char>((tag & 0x7f) | 0x80));
        tag >>= 7;
    }
    out.push_back(static_cast<char>(tag));
    out.push_back(static_cast<char>(value));
    return out;
}

std::string bytes_field(unsigned number, const std::string& value) {
    std::string out;
    unsigned tag = (number << 3) | 2;
    if (tag >= 0x80) {
        out.push_back(static_cast<char>((tag & 0x7f) | 0x80));
        tag >>= 7;
    }
    out.push_back(static_cast<char>(tag));
    out.push_back(static_cast<char>(value.size()));
    return out + value;
}

}  // namespace

TEST_CASE("operation keys are frozen", "[record]") {
    CHECK(key_hex("default", "", "refund-81") == "5989d84e086d0460d88b7571de3c7c4fa29924d6410aa9aa90710afac4fc0b36");
    CHECK(key_hex("default", "stripe", "refund-81") ==
          "5989d84e086d0460033c9991cd96ca09d88e816f972676ab317bd181e2c8dd6c");
    CHECK(key_hex("billing", "", "refund-81") == "02d331e46268cfe72ebaf020d707cdc33075b5948d48d664d677becd84a28e35");
    CHECK(key_hex("", "", "") == "aa458a58be81b9c64964b35e61d6ca0071885941bd96f9585aa0ea658f680f5f");
    CHECK(key_hex("ab", "c", "d") == "65f4d6ed94ec3990734a2d8975eea8bce535133bf21ce7a4a25c162e462a6089");
    CHECK(key_hex("a", "bc", "d") == "2f83c7dd6e07f3d864ab5f40b25bf3da84a38ab9f6112952fe604aac8aa6482b");
    CHECK(key_hex("t\0\xff"s, "", "x\0y"s) == "3b86967c7df9fb1ef5104b17fd12b21c6d8e6f734495efcded7aecb97e31162e");
}

TEST_CASE("a record comes back as it went in", "[record]") {
    const Operation full = full_operation();
    const Result<Operation> decoded = decode_operation(encode_operation(full));
    REQUIRE(decoded);
    CHECK(*decoded == full);

    const Operation plain = new_operation("plain", OperationStatus::prepared);
    const Result<Operation> again = decode_operation(encode_operation(plain));
    REQUIRE(again);
    CHECK(*again == plain);
}

// The generated classes are the schema: what we write by hand is what they would write.
TEST_CASE("records are written as the schema has them", "[record]") {
    const auto again = [](auto message, const std::string& bytes) {
        REQUIRE(message.ParseFromString(bytes));
        return message.SerializeAsString();
    };
    Operation large = full_operation();
    large.intent.body = payload(std::string(20'000, 'b'));
    large.intent.target = "/" + std::string(130, 't');
    large.response->headers.assign(40, {"Name", std::string(16'500, 'v')});
    for (const Operation& operation : {full_operation(), new_operation("plain"), large, Operation{}}) {
        const std::string bytes = encode_operation(operation);
        CHECK(again(record_v1::Record(), bytes) == bytes);
        const std::string apart = encode_operation(operation, 3);
        CHECK(again(record_v1::Record(), apart) == apart);
    }
    const std::string events = encode_history(full_operation().history);
    CHECK(again(record_v1::History(), events) == events);
    const std::string tombstone = encode_tombstone({OperationStatus::failed, at_ms(-1), at_ms(1'702'592'000'123)});
    CHECK(again(record_v1::Tombstone(), tombstone) == tombstone);
}

TEST_CASE("a body over the limit is marked as external and left out", "[record]") {
    const Operation operation = new_operation("inline");
    CHECK(encode_operation(operation, 10) == encode_operation(operation));
    const Result<Operation> decoded = decode_operation(encode_operation(operation, 9));
    REQUIRE(decoded);
    CHECK(decoded->intent.body.external);
    CHECK(decoded->intent.body.size == 10);
    CHECK(decoded->intent.body.bytes.empty());
}

TEST_CASE("the bytes of an external payload are left out", "[record]") {
    Operation operation = new_operation("external");
    operation.intent.body.external = true;
    const Result<Operation> decoded = decode_operation(encode_operation(operation));
    REQUIRE(decoded);
    CHECK(decoded->intent.body.external);
    CHECK(decoded->intent.body.kept);
    CHECK(decoded->intent.body.size == 10);
    CHECK(decoded->intent.body.bytes.empty());
}

TEST_CASE("records of format 1 are frozen", "[record][golden]") {
    const Operation full = full_operation();
    const std::string full_bytes = golden("full", encode_operation(full));
    CHECK(full_bytes == encode_operation(full));
    const Result<Operation> decoded = decode_operation(full_bytes);
    REQUIRE(decoded);
    CHECK(*decoded == full);

    const Operation plain = new_operation("plain", OperationStatus::prepared);
    const std::string plain_bytes = golden("prepared", encode_operation(plain));
    CHECK(plain_bytes == encode_operation(plain));
    const Result<Operation> plain_decoded = decode_operation(plain_bytes);
    REQUIRE(plain_decoded);
    CHECK(*plain_decoded == plain);

    const Tombstone tombstone{OperationStatus::cancelled, at_ms(1'700'000'000'123), at_ms(1'702'592'000'123)};
    const std::string tombstone_bytes = golden("tombstone", encode_tombstone(tombstone));
    CHECK(tombstone_bytes == encode_tombstone(tombstone));
    const Result<Tombstone> tombstone_decoded = decode_tombstone(tombstone_bytes);
    REQUIRE(tombstone_decoded);
    CHECK(*tombstone_decoded == tombstone);

    const std::string history_bytes = golden("history", encode_history(full.history));
    CHECK(history_bytes == encode_history(full.history));
    const Result<std::vector<HistoryEvent>> history = decode_history(history_bytes);
    REQUIRE(history);
    CHECK(*history == full.history);
}

TEST_CASE("a tombstone takes at most 64 bytes", "[record]") {
    const Tombstone widest{OperationStatus::cancelled, at_ms(-1), at_ms(-1)};
    CHECK(encode_tombstone(widest).size() <= 63);  // the store adds a tag of one byte
}

TEST_CASE("fields of a later writer are skipped", "[record]") {
    const Operation full = full_operation();
    const std::string later = encode_operation(full) + varint_field(99, 1) + bytes_field(100, "new");
    const Result<Operation> decoded = decode_operation(later);
    REQUIRE(decoded);
    CHECK(*decoded == full);
}

TEST_CASE("a record that breaks a rule is refused by name", "[record]") {
    const std::string good = encode_operation(full_operation());
    REQUIRE(problem_of(good) == "none");
    CHECK(problem_of("") == "stored record: unknown format");
    CHECK(problem_of("\xff\xff") == "stored record: not a record");
    CHECK(problem_of(good + varint_field(1, 2)) == "stored record: unknown format");
    CHECK(problem_of(good + bytes_field(2, "short")) == "stored record: key");
    CHECK(problem_of(good + varint_field(3, 0)) == "stored record: version");
    CHECK(problem_of(good + bytes_field(10, "x")) == "stored record: digest");
    CHECK(problem_of(good + bytes_field(11, "x")) == "stored record: raw digest");
    CHECK(problem_of(good + varint_field(13, 0)) == "stored record: status");
    CHECK(problem_of(good + varint_field(13, 9)) == "stored record: status");
    CHECK(problem_of(good + varint_field(31, 1)) == "stored record: history length");
    CHECK(problem_of(good + bytes_field(27, varint_field(1, 6))) == "stored record: next step");
    CHECK(problem_of(good + bytes_field(24, varint_field(2, 3))) == "stored record: attempt kind");
    CHECK(problem_of(good + bytes_field(24, varint_field(2, 1) + bytes_field(6, varint_field(1, 8)))) ==
          "stored record: attempt stage");
    CHECK(problem_of(good + bytes_field(24, varint_field(2, 1) + varint_field(7, 9))) ==
          "stored record: attempt verdict");
    CHECK(problem_of(good + bytes_field(12, bytes_field(5, varint_field(1, 9)))) == "stored record: payload size");
    CHECK(problem_of(good + bytes_field(12, bytes_field(5, varint_field(3, 0)))) ==
          "stored record: payload content that should not be there");
    CHECK(problem_of(good + bytes_field(25, bytes_field(4, varint_field(4, 1)))) ==
          "stored record: payload that is external but not kept");
    CHECK(problem_of(good + bytes_field(30, varint_field(1, 42))) == "stored record: history status");
    CHECK(problem_of(good + varint_field(31, 2) + bytes_field(30, varint_field(1, 42))) ==
          "stored record: history length");
    CHECK(problem_of(std::string(33 * 1024 * 1024, '\0')) == "stored record: too large");
}

TEST_CASE("a cut or flipped record is a value or an error, never more", "[record]") {
    const std::string good = encode_operation(full_operation());
    for (std::size_t size = 0; size < good.size(); ++size) {
        static_cast<void>(decode_operation(std::string_view(good).substr(0, size)));
        static_cast<void>(decode_history(std::string_view(good).substr(0, size)));
        static_cast<void>(decode_tombstone(std::string_view(good).substr(0, size)));
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            std::string flipped = good;
            flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
            const Result<Operation> decoded = decode_operation(flipped);
            if (!decoded) continue;
            const Result<Operation> again = decode_operation(encode_operation(*decoded));
            REQUIRE(again);
            REQUIRE(*again == *decoded);
        }
    }
}

TEST_CASE("a long history is spilled oldest first, in chunks", "[record]") {
    Operation operation = new_operation("long");
    CHECK(spill_history(operation).empty());
    while (operation.history.size() < inline_history_max) operation = moved(operation, OperationStatus::unknown);
    CHECK(spill_history(operation).empty());
    CHECK(operation.history.size() == 24);
    operation = moved(operation, OperationStatus::unknown);
    const std::vector<HistoryEvent> spilled = spill_history(operation);
    REQUIRE(spilled.size() == 13);
    CHECK(spilled.front().sequence == 1);
    CHECK(spilled.back().sequence == 13);
    REQUIRE(operation.history.size() == 12);
    CHECK(operation.history.front().sequence == 14);
    CHECK(operation.history.back().sequence == 25);
    CHECK(operation.history_length == 25);
}
