#include "core/profile/graphql_document.hpp"

#include <algorithm>

#include "core/identity/graphql_lexer.hpp"

namespace opid {
namespace {

constexpr std::size_t tokens_max = 200000;
constexpr std::size_t fields_max = 1000;
constexpr int fragment_depth_max = 16;

using Tokens = std::vector<std::string_view>;

bool is_name(std::string_view token) { return !token.empty() && is_graphql_name_character(token.front()); }

std::optional<Tokens> lex(std::string_view text) {
    Tokens tokens;
    GraphqlLexer lexer(text);
    for (auto token = lexer.next(); !token.empty(); token = lexer.next()) {
        if (tokens.size() == tokens_max) return std::nullopt;
        tokens.push_back(token);
    }
    if (lexer.broken()) return std::nullopt;
    return tokens;
}

// Index after the group that opens at `at` with one of ( [ {; 0: it never closes.
std::size_t skip_group(const Tokens& tokens, std::size_t at) {
    std::size_t depth = 0;
    for (; at < tokens.size(); ++at) {
        const std::string_view token = tokens[at];
        if (token == "(" || token == "[" || token == "{") ++depth;
        if (token == ")" || token == "]" || token == "}") {
            if (--depth == 0) return at + 1;
        }
    }
    return 0;
}

struct Definition {
    std::string_view type;  // "query", "mutation", "subscription", "fragment"
    std::string_view name;
    std::size_t selection = 0;  // index of its "{"
};

std::optional<std::vector<Definition>> definitions_of(const Tokens& tokens) {
    std::vector<Definition> all;
    for (std::size_t at = 0; at < tokens.size();) {
        Definition definition;
        if (tokens[at] == "{") {
            definition.type = "query";
        } else {
            definition.type = tokens[at++];
            const bool operation = definition.type == "query" || definition.type == "mutation" ||
                                   definition.type == "subscription";
            if (!operation && definition.type != "fragment") return std::nullopt;
            if (at < tokens.size() && is_name(tokens[at])) definition.name = tokens[at++];
            while (at < tokens.size() && tokens[at] != "{") {  // variables, directives, type condition
                at = tokens[at] == "(" ? skip_group(tokens, at) : at + 1;
                if (at == 0) return std::nullopt;
            }
        }
        definition.selection = at;
        if (at >= tokens.size()) return std::nullopt;
        at = skip_group(tokens, at);
        if (at == 0) return std::nullopt;
        all.push_back(definition);
    }
    return all;
}

class FieldCollector {
public:
    FieldCollector(const Tokens& tokens, const std::vector<Definition>& definitions, GraphqlOperation& out)
        : tokens_(tokens),
          definitions_(definitions),
          out_(out) {}

    // `at` is at a "{" whose group closes.
    void collect(std::size_t at, int depth) {
        if (depth > fragment_depth_max) {
            out_.complete = false;
            return;
        }
        ++at;
        while (at < tokens_.size() && tokens_[at] != "}") {
            at = tokens_[at] == "..." ? spread(at + 1, depth) : field(at);
            if (at == 0) {
                out_.complete = false;
                return;
            }
        }
    }

private:
    std::string_view peek(std::size_t at) const { return at < tokens_.size() ? tokens_[at] : std::string_view(); }

    std::size_t skip_directives(std::size_t at) const {
        while (peek(at) == "@") {
            at += 2;
            if (peek(at) == "(") at = skip_group(tokens_, at);
            if (at == 0) return 0;
        }
        return at;
    }

    std::size_t field(std::size_t at) {
        if (!is_name(peek(at))) return 0;
        std::string_view name = tokens_[at++];
        if (peek(at) == ":") {
            name = peek(at + 1);
            if (!is_name(name)) return 0;
            at += 2;
        }
        add(name);
        if (peek(at) == "(") at = skip_group(tokens_, at);
        if (at == 0) return 0;
        at = skip_directives(at);
        if (at != 0 && peek(at) == "{") at = skip_group(tokens_, at);
        return at;
    }

    std::size_t spread(std::size_t at, int depth) {
        if (is_name(peek(at)) && peek(at) != "on") {
            follow(tokens_[at], depth);
            return skip_directives(at + 1);
        }
        if (peek(at) == "on") at += 2;
        at = skip_directives(at);
        if (at == 0 || peek(at) != "{") return 0;
        collect(at, depth + 1);
        return skip_group(tokens_, at);
    }

    void follow(std::string_view fragment, int depth) {
        // Once is enough, and a ring of fragments ends here.
        if (std::find(followed_.begin(), followed_.end(), fragment) != followed_.end()) return;
        followed_.push_back(fragment);
        for (const Definition& definition : definitions_) {
            if (definition.type == "fragment" && definition.name == fragment) {
                collect(definition.selection, depth + 1);
                return;
            }
        }
        out_.complete = false;
    }

    void add(std::string_view name) {
        if (std::find(out_.fields.begin(), out_.fields.end(), name) != out_.fields.end()) return;
        if (out_.fields.size() == fields_max) {
            out_.complete = false;
            return;
        }
        out_.fields.emplace_back(name);
    }

    const Tokens& tokens_;
    const std::vector<Definition>& definitions_;
    GraphqlOperation& out_;
    std::vector<std::string_view> followed_;
};

}  // namespace

std::optional<GraphqlOperation> read_graphql_document(std::string_view document, std::string_view operation_name) {
    const auto tokens = lex(document);
    if (!tokens) return std::nullopt;
    const auto definitions = definitions_of(*tokens);
    if (!definitions) return std::nullopt;
    const Definition* chosen = nullptr;
    for (const Definition& definition : *definitions) {
        if (definition.type == "fragment") continue;
        if (!operation_name.empty() && definition.name != operation_name) continue;
        if (chosen != nullptr) return std::nullopt;
        chosen = &definition;
    }
    if (chosen == nullptr) return std::nullopt;
    GraphqlOperation operation;
    operation.type = chosen->type;
    FieldCollector(*tokens, *definitions, operation).collect(chosen->selection, 0);
    return operation;
}

}  // namespace opid
