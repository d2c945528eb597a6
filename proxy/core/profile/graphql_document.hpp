#pragma once
// As much of a GraphQL document (October 2021 specification, section 2) as rules need: which operation runs, of which
// type, and which fields stand at its first level.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opid {

struct GraphqlOperation {
    std::string type;                 // "query", "mutation", "subscription"
    std::vector<std::string> fields;  // first-level field names (not aliases), fragments resolved
    bool complete = true;             // false: some fields could not be found out
};

// operation_name empty: the only operation of the document. nullopt: the text does not lex or parse, or names no
// such operation, or two. Linear in the text; fragments are followed to a fixed depth.
std::optional<GraphqlOperation> read_graphql_document(std::string_view document, std::string_view operation_name);

}  // namespace opid
