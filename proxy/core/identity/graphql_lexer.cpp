#include "core/identity/graphql_lexer.hpp"

#include <algorithm>

namespace opid {

std::string_view GraphqlLexer::next() {
    skip_ignored();
    const std::size_t begin = at_;
    if (at_ == text_.size()) return {};
    const char c = text_[at_];
    if (c == '"') {
        broken_ = !(starts_with("\"\"\"") ? block_string() : string());
    } else if (is_graphql_name_character(c) || c == '-') {
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

void GraphqlLexer::skip_ignored() {
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

bool GraphqlLexer::string() {
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

bool GraphqlLexer::block_string() {
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
void GraphqlLexer::name_or_number() {
    const bool number = text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9');
    for (++at_; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (is_graphql_name_character(c)) continue;
        const char before = text_[at_ - 1];
        if (number && c == '.') continue;
        if (number && (c == '+' || c == '-') && (before == 'e' || before == 'E')) continue;
        return;
    }
}

}  // namespace opid
