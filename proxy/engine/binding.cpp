#include "engine/binding.hpp"

#include <algorithm>

#include "core/identity/credential_veil.hpp"
#include "core/identity/target_form.hpp"

namespace opid {
namespace {

// What the canonical form needs beside the selected headers; the colon keeps them apart from any field name.
constexpr std::string_view media_type_entry = ":media-type";
constexpr std::string_view content_coding_entry = ":content-coding";

std::string_view scope_of(const GuardedWrite& write) {
    return write.native_key ? std::string_view(write.profile->provider) : std::string_view();
}

std::string_view salt_of(const OperationKey& key) {
    return {reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()};
}

bool same_target(std::string_view recorded, const Intent& intent, const OperationKey& key) {
    if (has_credentials(intent.query)) return recorded == veiled_target(intent.path + intent.query, salt_of(key));
    return recorded.size() == intent.path.size() + intent.query.size() && recorded.starts_with(intent.path) &&
           recorded.ends_with(intent.query);
}

}  // namespace

OperationKey key_of(const GuardedWrite& write) {
    return operation_key(write.tenant, scope_of(write), write.id.value());
}

const Digest& Binding::digest() const {
    if (!digest_) digest_ = canonical_digest(write_.intent, write_.rule->intent, limits_).value();
    return *digest_;
}

const Digest& Binding::raw_digest() const {
    if (!raw_digest_) raw_digest_ = opid::raw_digest(write_.intent).value();
    return *raw_digest_;
}

Operation draft_operation(const GuardedWrite& write, const Binding& binding) {
    Operation operation;
    operation.key = binding.key();
    operation.tenant = write.tenant;
    operation.scope = scope_of(write);
    operation.id = write.id.value();
    operation.provider = write.profile->provider;
    operation.rule = write.rule->name;
    operation.profile_digest = write.profile->digest;
    operation.digest = binding.digest();
    operation.raw_digest = binding.raw_digest();
    RecordedIntent& intent = operation.intent;
    intent.method = write.intent.method;
    intent.scheme_authority = write.intent.scheme_authority;
    intent.target = veiled_target(write.intent.path + write.intent.query, salt_of(binding.key()));
    intent.headers.reserve(write.intent.headers.size() + 2);
    intent.headers.insert(intent.headers.end(), write.intent.headers.begin(), write.intent.headers.end());
    intent.headers.emplace_back(media_type_entry, write.intent.media_type);
    intent.headers.emplace_back(content_coding_entry, write.intent.content_coding);
    intent.body.size = write.intent.body.size();
    intent.body.digest = operation.raw_digest;
    intent.body.kept = true;
    intent.body.bytes = write.intent.body;
    return operation;
}

Intent recorded_intent(const Operation& operation, std::string_view request_body) {
    Intent intent;
    intent.method = operation.intent.method;
    intent.scheme_authority = operation.intent.scheme_authority;
    const auto question = operation.intent.target.find('?');
    intent.path = operation.intent.target.substr(0, question);
    if (question != std::string::npos) intent.query = operation.intent.target.substr(question);
    for (const auto& [name, value] : operation.intent.headers) {
        if (name == media_type_entry) {
            intent.media_type = value;
        } else if (name == content_coding_entry) {
            intent.content_coding = value;
        } else {
            intent.headers.emplace_back(name, value);
        }
    }
    intent.body = request_body;
    return intent;
}

Intent veiled(Intent intent, const OperationKey& key) {
    const std::size_t path = intent.path.size();
    intent.query = veiled_target(intent.path + intent.query, salt_of(key)).substr(path);
    return intent;
}

bool differ_in_credentials_alone(const Intent& a, const Intent& b) {
    return canonical_authority(a.scheme_authority) == canonical_authority(b.scheme_authority) && a.path == b.path &&
           a.query != b.query && same_but_credentials(a.query, b.query);
}

bool comparable(const Operation& operation, const GuardedWrite& write) {
    return operation.profile_digest == write.profile->digest;
}

bool repeats(const Operation& operation, const GuardedWrite& write, const Binding& binding) {
    const RecordedIntent& recorded = operation.intent;
    const Intent& intent = write.intent;
    if (!comparable(operation, write) || operation.rule != write.rule->name) return false;
    if (recorded.method != intent.method || recorded.scheme_authority != intent.scheme_authority) return false;
    if (!same_target(recorded.target, intent, operation.key)) return false;
    const std::size_t selected = intent.headers.size();
    if (recorded.headers.size() != selected + 2) return false;
    const auto& [media_name, media_type] = recorded.headers[selected];
    const auto& [coding_name, content_coding] = recorded.headers[selected + 1];
    return std::equal(intent.headers.begin(), intent.headers.end(), recorded.headers.begin()) &&
           media_name == media_type_entry && media_type == intent.media_type && coding_name == content_coding_entry &&
           content_coding == intent.content_coding && recorded.body.size == intent.body.size() &&
           operation.raw_digest == binding.raw_digest();
}

bool repeats(const GuardedWrite& other, const GuardedWrite& write) {
    return other.profile->digest == write.profile->digest && other.rule->name == write.rule->name &&
           other.intent == write.intent;
}

}  // namespace opid
