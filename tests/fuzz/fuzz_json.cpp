// JSON reader, canonical form and digest: never crash, and keep the promises that identity rests on.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/invariant.hpp"
#include "core/identity/differences.hpp"
#include "core/identity/intent.hpp"
#include "core/identity/key_placement.hpp"

using namespace opid;

namespace {

// The same text with the members of every object in another order; names and scalars as written.
void write_shuffled(JsonValue value, std::mt19937& random, std::string& out) {
    const bool object = value.is(JsonKind::object);
    if (!object && !value.is(JsonKind::array)) {
        out += value.raw();
        return;
    }
    std::vector<JsonValue> children;
    for (auto child = value.first(); child; child = child->next()) children.push_back(*child);
    if (object) std::shuffle(children.begin(), children.end(), random);
    out += object ? "{ " : "[ ";
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (i > 0) out += " ,";
        if (object) {
            append_json_string(out, children[i].name());
            out += "\t:\n";
        }
        write_shuffled(children[i], random, out);
    }
    out += object ? " }" : " ]";
}

Intent intent_of(std::string_view media_type, std::string_view body) {
    Intent intent;
    intent.method = "POST";
    intent.scheme_authority = "https://api.example.com";
    intent.path = "/";
    intent.media_type = media_type;
    intent.body = body;
    return intent;
}

void check_placement(std::string_view body) {
    const auto carrier = parse_key_carrier("body:/metadata/key");
    CarrierRequest request;
    request.media_type = "application/json";
    request.body = body;
    const auto change = place_key(carrier.value(), "k\"1", request);
    if (!change) return;
    const auto document = read_json(*change->body);
    if (!document) return;  // the added parents may pass the depth bound
    request.body = *change->body;
    const auto key = read_key(carrier.value(), request, {});
    OPID_INVARIANT(key.has_value() && *key == std::optional<std::string>("k\"1"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Intent as_json = intent_of("application/json", text);
    const Intent as_raw = intent_of("application/octet-stream", text);
    const CanonicalDigest digest = canonical_digest(as_json, {});
    OPID_INVARIANT(!(digest == canonical_digest(as_raw, {})));
    check_placement(text);

    const auto document = read_json(text);
    if (!document || document->duplicate_at()) {
        OPID_INVARIANT(canonical_body_of(as_json, {}).form == BodyForm::raw);
        return 0;
    }
    const CanonicalBody canonical = canonical_body("application/json", text, {});
    OPID_INVARIANT(canonical_body("application/json", canonical.bytes, {}) == canonical);
    std::mt19937 random(static_cast<std::uint32_t>(size * 31 + (size > 0 ? data[size / 2] : 0)));
    std::string shuffled;
    write_shuffled(document->root(), random, shuffled);
    const Intent other = intent_of("application/json", shuffled);
    OPID_INVARIANT(canonical_digest(other, {}) == digest);
    OPID_INVARIANT(differences(as_json, other, {}).empty());
    return 0;
}
