// One spelling of a GraphQL document, so that two spellings of it are one intent.
#include "core/identity/canonical_form.hpp"
#include "core/identity/graphql_lexer.hpp"

namespace opid {

std::string normal_graphql_document(std::string_view document) {
    GraphqlLexer lexer(document);
    std::string normal;
    for (auto token = lexer.next(); !token.empty(); token = lexer.next()) {
        if (!normal.empty()) normal.push_back(' ');
        normal += token;
    }
    if (lexer.broken()) return std::string(document);
    return normal;
}

}  // namespace opid
