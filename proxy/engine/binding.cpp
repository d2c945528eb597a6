#include "engine/binding.hpp"

namespace opid {
namespace {

// What the canonical form needs beside the selected headers; the colon keeps them apart from any field name.
constexpr std::string_view media_type_entry = ":media-type";
constexpr std::string_view content_coding_entry = ":content-coding";

std::string_view scope_of(const GuardedWrite& write) {
    return write.native_key ? std::string_view(write.profile->provider) : std::string_view();
}

}  // namespace

OperationKey key_of(const GuardedWrite& write) {
    return operation_key(write.tenant, scope_of(write), write.id.value());
}

Binding binding_of(const GuardedWrite& write, IntentLimits limits) {
    Binding binding;
    binding.key = key_of(write);
    binding.digest = canonical_digest(write.intent, write.rule->intent, limits).value();
    binding.raw_digest = raw_digest(write.intent).value();
    return binding;
}

Operation draft_operation(const GuardedWrite& write, const Binding& binding) {
    Operation operation;
    operation.key = binding.key;
    operation.tenant = write.tenant;
    operation.scope = scope_of(write);
    operation.id = write.id.value();
    operation.provider = write.profile->provider;
    operation.rule = write.rule->name;
    operation.profile_digest = write.profile->digest;
    operation.digest = binding.digest;
    operation.raw_digest = binding.raw_digest;
    RecordedIntent& intent = operation.intent;
    intent.method = write.intent.method;
    intent.scheme_authority = write.intent.scheme_authority;
    intent.target = write.intent.path + write.intent.query;
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

bool comparable(const Operation& operation, const GuardedWrite& write) {
    return operation.profile_digest == write.profile->digest;
}

}  // namespace opid
