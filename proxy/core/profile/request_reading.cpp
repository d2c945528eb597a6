#include "core/profile/request_reading.hpp"

namespace opid {
namespace {

constexpr std::size_t batch_max = 1000;

std::string_view media_type_of(const RequestView& request) {
    if (request.fields == nullptr) return {};
    return request.fields->get("content-type").value_or(std::string_view());
}

// A member that is absent or null reads as empty; one of another type has no reading.
std::optional<std::string> string_member(JsonValue object, std::string_view name) {
    const auto value = object.member(name);
    if (!value || value->is(JsonKind::null)) return std::string();
    if (!value->is(JsonKind::string)) return std::nullopt;
    return value->string();
}

std::optional<GraphqlOperation> graphql_of_json(JsonValue request) {
    const auto document = string_member(request, "query");
    const auto name = string_member(request, "operationName");
    if (!document || document->empty() || !name) return std::nullopt;
    return read_graphql_document(*document, *name);
}

std::optional<JsonRpcCall> jsonrpc_of_json(JsonValue request) {
    const auto method = string_member(request, "method");
    if (!method || method->empty()) return std::nullopt;
    JsonRpcCall call;
    call.method = *method;
    if (const auto params = request.member("params")) {
        const auto name = params->member("name");
        if (name && name->is(JsonKind::string)) call.name = name->string();
    }
    return call;
}

// One element, or all elements of a batch; nothing as soon as one can't be read.
template <class T, class Read>
std::vector<T> read_batch(JsonValue root, Read read) {
    std::vector<T> all;
    const bool batch = root.is(JsonKind::array);
    std::optional<JsonValue> element = batch ? root.first() : root;
    while (element) {
        auto one = read(*element);
        if (!one || all.size() == batch_max) return {};
        all.push_back(std::move(*one));
        element = batch ? element->next() : std::nullopt;
    }
    return all;
}

// GraphQL in a query or a form: query=…&operationName=…, each once.
std::vector<GraphqlOperation> graphql_of_pairs(const TextPairs& pairs) {
    const std::string* document = nullptr;
    std::string_view name;
    for (const auto& [key, value] : pairs) {
        if (key == "query") {
            if (document != nullptr) return {};
            document = &value;
        }
        if (key == "operationName") name = value;
    }
    if (document == nullptr) return {};
    std::vector<GraphqlOperation> all;
    if (auto operation = read_graphql_document(*document, name)) all.push_back(std::move(*operation));
    return all;
}

bool has_name(const TextPairs& pairs, std::string_view name) {
    for (const auto& pair : pairs) {
        if (pair.first == name) return true;
    }
    return false;
}

}  // namespace

RequestReading::RequestReading(const RequestView& request)
    : request_(request),
      body_(media_type_of(request), request.body) {
    const std::size_t question = request.target.find('?');
    path_ = request.target.substr(0, question);
    if (question != std::string_view::npos) query_ = request.target.substr(question + 1);
}

const std::optional<std::string>& RequestReading::other_path() {
    if (!path_read_) {
        path_read_ = true;
        other_path_ = other_reading_of(path_);
    }
    return other_path_;
}

const TextPairs& RequestReading::query_pairs() {
    if (!query_pairs_) query_pairs_ = decode_form(query_);
    return *query_pairs_;
}

std::vector<std::string_view> RequestReading::query_values(std::string_view name) {
    std::vector<std::string_view> values;
    for (const auto& [key, value] : query_pairs()) {
        if (key == name) values.push_back(value);
    }
    return values;
}

const std::vector<GraphqlOperation>& RequestReading::graphql() {
    if (graphql_) return *graphql_;
    graphql_.emplace();
    // Servers differ in which one counts when both the query and the body bring a document: then nothing is known.
    if (has_name(query_pairs(), "query")) {
        if (request_.body.empty()) *graphql_ = graphql_of_pairs(query_pairs());
    } else if (const TextPairs* form = body_.form()) {
        *graphql_ = graphql_of_pairs(*form);
    } else if (body_.media_essence() == "application/graphql") {
        if (auto operation = read_graphql_document(request_.body, {})) graphql_->push_back(std::move(*operation));
    } else if (const JsonDocument* json = body_.json()) {
        *graphql_ = read_batch<GraphqlOperation>(json->root(), graphql_of_json);
    }
    return *graphql_;
}

const std::vector<JsonRpcCall>& RequestReading::jsonrpc() {
    if (jsonrpc_) return *jsonrpc_;
    jsonrpc_.emplace();
    if (const JsonDocument* json = body_.json()) *jsonrpc_ = read_batch<JsonRpcCall>(json->root(), jsonrpc_of_json);
    return *jsonrpc_;
}

}  // namespace opid
