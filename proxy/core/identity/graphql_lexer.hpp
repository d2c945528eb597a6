#pragma once
// The lexical grammar of GraphQL (October 2021, section 2.1), as far as telling documents apart and finding their
// operations need it.
#include <string_view>

namespace opid {

// Of a name or a number; only a lexer's tokens are asked, so the first character tells names from punctuation.
constexpr bool is_graphql_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Token by token, without white space, commas, comments and byte order marks. Linear in the text, which it views.
class GraphqlLexer {
public:
    explicit GraphqlLexer(std::string_view text) : text_(text) {}

    // The next token as written; empty at the end; broken() tells an end from a text that does not lex.
    std::string_view next();
    bool broken() const { return broken_; }

private:
    bool starts_with(std::string_view wanted) const { return text_.substr(at_, wanted.size()) == wanted; }
    void skip_ignored();
    bool string();
    bool block_string();
    void name_or_number();

    std::string_view text_;
    std::size_t at_ = 0;
    bool broken_ = false;
};

}  // namespace opid
