#include "engine/outbound.hpp"

#include "base/encoding.hpp"
#include "core/identity/credential_veil.hpp"
#include "core/identity/key_placement.hpp"
#include "core/identity/mark_placement.hpp"
#include "engine/binding.hpp"

namespace opid {
namespace {

CarrierRequest carrier_view(const GuardedWrite& write, std::string_view body) {
    CarrierRequest view;
    view.path = write.intent.path;
    view.query = write.intent.query;
    view.media_type = write.intent.media_type;
    view.content_coding = write.intent.content_coding;
    view.body = body;
    return view;
}

}  // namespace

std::string provider_key_for(const GuardedWrite& write, const Operation& operation) {
    const KeyRule& key = write.rule->key;
    if (!key.present()) return {};
    if (operation.doubt || !operation.provider_key.empty()) return operation.provider_key;
    const bool first_generation = operation.key_generation == 0;
    if (key.source == KeySource::caller && first_generation && write.caller_keys.size() == 1 &&
        key.fits(write.caller_keys.front())) {
        return write.caller_keys.front();
    }
    const std::string identity = operation.scope + "\n" + operation.id;
    KeySubject subject;
    subject.tenant = operation.tenant;
    subject.provider_scope = operation.provider;
    subject.operation = identity;
    subject.generation = operation.key_generation + 1;
    return derive_provider_key(subject, key.encoding);
}

Result<OutboundRequest> outbound_request(const GuardedWrite& write, std::string_view provider_key,
                                         std::string& body_storage) {
    OutboundRequest request;
    request.profile = write.profile;
    request.scheme_authority = write.intent.scheme_authority;
    request.method = write.intent.method;
    request.chunked = write.chunked;
    request.no_length = write.no_length;
    request.fields = write.fields;
    request.body = write.intent.body;
    if (write.rule->mark) {
        auto pointer = JsonPointer::parse(*write.rule->mark);
        if (!pointer) return pointer.error();
        auto marked = place_mark(*pointer, write.id.value(), carrier_view(write, request.body));
        if (!marked) return marked.error();
        body_storage = std::move(*marked);
        request.body = body_storage;
    }
    std::string path = write.intent.path;
    std::string query = write.intent.query;
    if (!provider_key.empty()) {
        auto change = place_key(write.rule->key.carrier, write.rule->key.wire_key(provider_key),
                                carrier_view(write, request.body));
        if (!change) return change.error();
        if (change->header) {
            request.fields = without_field(request.fields, change->header->first);
            request.fields += change->header->first + ": " + change->header->second + "\r\n";
        }
        if (change->path) path = std::move(*change->path);
        if (change->query) query = std::move(*change->query);
        if (change->body) {
            body_storage = std::move(*change->body);
            request.body = body_storage;
        }
    }
    request.target = path + query;
    return request;
}

GuardedWrite as_recorded(const GuardedWrite& write, const Operation& operation, std::string_view request_body) {
    GuardedWrite original = write;
    original.intent = recorded_intent(operation, request_body);
    if (has_credentials(operation.intent.target)) original.intent.query = write.intent.query;
    original.fields = without_field(without_field(write.fields, "content-type"), "content-encoding");
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) original.fields.append(name).append(": ").append(value).append("\r\n");
    };
    add("Content-Type", original.intent.media_type);
    add("Content-Encoding", original.intent.content_coding);
    return original;
}

std::string without_field(std::string_view lines, std::string_view name) {
    std::string kept;
    kept.reserve(lines.size() + 64);
    while (!lines.empty()) {
        const auto end = lines.find("\r\n");
        const std::string_view line = lines.substr(0, end == std::string_view::npos ? lines.size() : end + 2);
        const std::string_view field = line.substr(0, line.find(':'));
        if (!equal_ignoring_case(field, name)) kept += line;
        lines.remove_prefix(line.size());
    }
    return kept;
}

}  // namespace opid
