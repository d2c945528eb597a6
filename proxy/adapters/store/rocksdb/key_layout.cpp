#include "adapters/store/rocksdb/key_layout.hpp"

#include <algorithm>

namespace opid {
namespace {

constexpr std::string_view scope_prefix = "scope/";
constexpr std::string_view fact_prefix = "fact/";
constexpr std::uint8_t flag_request = 1;
constexpr std::uint8_t flag_response = 2;
constexpr std::uint8_t flag_spilled = 4;

void put_big_endian(char* out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out[i] = static_cast<char>(value >> (8 * (bytes - 1 - i)));
}

}  // namespace

void append_big_endian(std::string& out, std::uint64_t value) {
    char bytes[8];
    put_big_endian(bytes, value, 8);
    out.append(bytes, sizeof bytes);
}

std::uint64_t read_big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8 && i < bytes.size(); ++i) value = (value << 8) | static_cast<std::uint8_t>(bytes[i]);
    return value;
}

TimedKey timed_key(Instant at, const OperationKey& key) {
    TimedKey out{};
    put_big_endian(out.data(), static_cast<std::uint64_t>(to_unix_ms(at)), 8);
    std::copy(key.bytes.begin(), key.bytes.end(), out.begin() + 8);
    return out;
}

std::optional<OperationKey> parse_operation_key(std::string_view bytes) {
    OperationKey key;
    if (bytes.size() != key.bytes.size()) return std::nullopt;
    std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
    return key;
}

std::optional<ListPlace> parse_timed_key(std::string_view bytes) {
    if (bytes.size() != std::tuple_size_v<TimedKey>) return std::nullopt;
    const std::optional<OperationKey> key = parse_operation_key(bytes.substr(8));
    return ListPlace{from_unix_ms(static_cast<std::int64_t>(read_big_endian(bytes))), *key};
}

FinalFacts final_facts(const RecordFacts& facts) {
    FinalFacts out{};
    out[0] = static_cast<char>(facts.status);
    out[1] = static_cast<char>((facts.request_beside ? flag_request : 0) | (facts.response_beside ? flag_response : 0) |
                               (facts.spilled ? flag_spilled : 0));
    put_big_endian(out.data() + 2, facts.provider_tag, 4);
    put_big_endian(out.data() + 6, static_cast<std::uint64_t>(to_unix_ms(facts.updated)), 8);
    return out;
}

std::optional<RecordFacts> parse_final_facts(Instant created, std::string_view bytes) {
    if (bytes.size() != std::tuple_size_v<FinalFacts>) return std::nullopt;
    RecordFacts facts;
    facts.status = static_cast<OperationStatus>(bytes[0]);
    if (!is_final(facts.status)) return std::nullopt;
    const auto flags = static_cast<std::uint8_t>(bytes[1]);
    facts.request_beside = (flags & flag_request) != 0;
    facts.response_beside = (flags & flag_response) != 0;
    facts.spilled = (flags & flag_spilled) != 0;
    for (std::size_t i = 2; i < 6; ++i) {
        facts.provider_tag = (facts.provider_tag << 8) | static_cast<std::uint8_t>(bytes[i]);
    }
    facts.created = created;
    facts.updated = from_unix_ms(static_cast<std::int64_t>(read_big_endian(bytes.substr(6))));
    return facts;
}

std::string body_key(const OperationKey& key, BodyPart part) {
    std::string out(bytes_of(key));
    out.push_back(static_cast<char>(part));
    return out;
}

std::string history_key(const OperationKey& key, std::uint64_t first_sequence) {
    std::string out(bytes_of(key));
    append_big_endian(out, first_sequence);
    return out;
}

std::string owned_step_key(const OperationKey& owner, std::string_view step_key) {
    std::string out(bytes_of(owner));
    out += step_key;
    return out;
}

std::string fact_key(std::string_view fact) {
    std::string out(fact_prefix);
    out += fact;
    return out;
}

std::optional<std::string_view> parse_fact_key(std::string_view bytes) {
    if (!bytes.starts_with(fact_prefix)) return std::nullopt;
    return bytes.substr(fact_prefix.size());
}

std::string scope_key(std::string_view tenant, std::string_view scope) {
    std::string out(scope_prefix);
    append_big_endian(out, tenant.size());
    out.append(tenant).append(scope);
    return out;
}

std::optional<std::pair<std::string, std::string>> parse_scope_key(std::string_view bytes) {
    if (bytes.substr(0, scope_prefix.size()) != scope_prefix) return std::nullopt;
    bytes.remove_prefix(scope_prefix.size());
    if (bytes.size() < 8) return std::nullopt;
    const std::uint64_t length = read_big_endian(bytes);
    bytes.remove_prefix(8);
    if (length > bytes.size()) return std::nullopt;
    return std::pair(std::string(bytes.substr(0, length)), std::string(bytes.substr(length)));
}

}  // namespace opid
