#pragma once
// One request read once for all rules: path, query values, body as JSON or form, GraphQL and JSON-RPC operations.
// Everything is worked out when it is first asked for. Not for several threads at a time.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/body_reading.hpp"
#include "core/profile/graphql_document.hpp"
#include "core/profile/request_matcher.hpp"

namespace opid {

struct JsonRpcCall {
    std::string method;
    std::string name;  // params.name where that is a string
};

class RequestReading {
public:
    explicit RequestReading(const RequestView& request);  // request and what it views must outlive this
    RequestReading(const RequestReading&) = delete;
    RequestReading& operator=(const RequestReading&) = delete;

    const RequestView& request() const { return request_; }
    std::string_view path() const { return path_; }
    const std::optional<std::string>& other_path();  // see other_reading_of
    std::vector<std::string_view> query_values(std::string_view name);
    BodyReading& body() { return body_; }
    // Empty: not GraphQL, or which operation runs can't be told. Several: a batch.
    const std::vector<GraphqlOperation>& graphql();
    // Empty: not JSON-RPC, or not wholly. Several: a batch.
    const std::vector<JsonRpcCall>& jsonrpc();

private:
    const TextPairs& query_pairs();

    const RequestView& request_;
    std::string_view path_;
    std::string_view query_;
    BodyReading body_;
    bool path_read_ = false;
    std::optional<std::string> other_path_;
    std::optional<TextPairs> query_pairs_;
    std::optional<std::vector<GraphqlOperation>> graphql_;
    std::optional<std::vector<JsonRpcCall>> jsonrpc_;
};

}  // namespace opid
