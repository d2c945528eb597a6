// The lexical grammar of GraphQL (October 2021, section 2.1), as far as two spellings of one document need it.
#include <algorithm>

#include "core/identity/canonical_form.hpp"

namespace opid {
namespace {

bool name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class DocumentLexer {
public:
    explicit DocumentLexer(std::string_view text) : text_(text) {}

    // The next token as written; empty at the end; broken() tells an end from a text that does not lex.
    std::string_view next() {
        skip_ignored();
        const std::size_t begin = at_;
        if (at_ == text_.size()) return {};
        const char c = text_[at_];
        if (c == '"') {
            broken_ = !(starts_with("\"\"\"") ? block_string() : string());
        } else if (name_character(c) || c == '-') {
            name_or_number();
        } else if (starts_with("...")) {
            at_ += 3;
        } else if (std::string_view("!$&():=@[]{|}?*").find(c) != std::string_view::npos) {
            ++at_;
        } else {
            broken_ = true;
        }
        return broken_ ? std::string_view() : text_.substr(begin, at_ - begin);
    }
    bool broken() const { return broken_; }

private:
    bool starts_with(std::string_view wanted) const { return text_.substr(at_, wanted.size()) == wanted; }

    void skip_ignored() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '#') {
                at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
            } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',') {
                ++at_;
            } else if (starts_with("\xEF\xBB\xBF")) {
                at_ += 3;
            } else {
                return;
            }
        }
    }

    bool string() {
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '\r' || c == '\n') return false;
            if (c == '"') {
                ++at_;
                return true;
            }
            if (c == '\\') ++at_;
        }
        at_ = text_.size();
        return false;
    }

    bool block_string() {
        at_ += 3;
        while (at_ < text_.size()) {
            if (starts_with("\\\"\"\"")) {
                at_ += 4;
            } else if (starts_with("\"\"\"")) {
                at_ += 3;
                return true;
            } else {
                ++at_;
            }
        }
        return false;
    }

    // Names and numbers only have to be cut out whole: "1.5e-3" must not fall apart, and "a1" is not "a 1".
    void name_or_number() {
        const bool number = text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9');
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (name_character(c)) continue;
            const char before = text_[at_ - 1];
            if (number && c == '.') continue;
            if (number && (c == '+' || c == '-') && (before == 'e' || before == 'E')) continue;
            return;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool broken_ = false;
};

}  // namespace

std::string normal_graphql_document(std::string_view document) {
    DocumentLexer lexer(document);
    std::string normal;
    for (auto token = lexer.next(); !token.empty(); token = lexer.next()) {
        if (!normal.empty()) normal.push_back(' ');
        normal += token;
    }
    if (lexer.broken()) return std::string(document);
    return normal;
}

}  // namespace opid
