#include "core/identity/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

#include "core/identity/utf8.hpp"

namespace opid {
namespace {

// Bytes of a string that need no look: ASCII from the blank on, but for the quote and the backslash.
constexpr std::array<bool, 256> make_plain_table() {
    std::array<bool, 256> plain{};
    for (std::size_t i = 0x20; i < 0x80; ++i) plain[i] = i != '"' && i != '\\';
    return plain;
}
constexpr std::array<bool, 256> plain_bytes = make_plain_table();

// The first place from `at` on that needs a look. Eight bytes at a time: a borrow in these sums can only make a plain
// byte above one that needs a look seem to need one too.
std::size_t end_of_plain(std::string_view text, std::size_t at) {
    constexpr std::uint64_t each = 0x0101010101010101;
    for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text.data() + at, sizeof bytes);
        const std::uint64_t below_blank = bytes - 0x20 * each;
        const std::uint64_t quote = (bytes ^ '"' * each) - each;
        const std::uint64_t backslash = (bytes ^ '\\' * each) - each;
        if (((bytes | below_blank | quote | backslash) & 0x80 * each) != 0) break;
    }
    while (at < text.size() && plain_bytes[static_cast<unsigned char>(text[at])]) ++at;
    return at;
}

constexpr std::size_t pairwise_members_max = 12;  // below this, comparing all pairs beats sorting

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

class JsonParser {
public:
    JsonParser(JsonDocument& document, std::string_view text, JsonLimits limits)
        : document_(document),
          text_(text),
          limits_(limits) {
        document_.text_ = text;
        document_.nodes_.reserve(text_.size() / 12 + 4);
    }

    bool run() {
        skip_blanks();
        if (!value({})) return false;
        while (!open_.empty()) {
            if (!member_or_close()) return false;
        }
        skip_blanks();
        return at_ == text_.size() || fail("text after the end of the value");
    }

    std::size_t at() const { return at_; }
    const char* what() const { return what_; }

private:
    struct Open {
        std::uint32_t node;
        std::uint32_t last_child;
    };

    bool fail(const char* what) {
        what_ = what;
        return false;
    }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_blanks() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
            ++at_;
        }
    }

    bool member_or_close() {
        const Open open = open_.back();
        const bool object = document_.nodes_[open.node].kind == JsonKind::object;
        skip_blanks();
        if (at_ < text_.size() && peek() == (object ? '}' : ']')) return close(object);
        if (open.last_child != 0) {
            if (peek() != ',') return fail(object ? "expected ',' or '}'" : "expected ',' or ']'");
            ++at_;
            skip_blanks();
        }
        JsonDocument::Node child_node;
        if (object) {
            if (peek() != '"') return fail("expected a member name");
            child_node.member = true;
            child_node.name_begin = static_cast<std::uint32_t>(at_);
            if (!string(child_node.name_escaped)) return false;
            child_node.name_end = static_cast<std::uint32_t>(at_);
            skip_blanks();
            if (peek() != ':') return fail("expected ':'");
            ++at_;
            skip_blanks();
        }
        const auto child = static_cast<std::uint32_t>(document_.nodes_.size());
        if (open.last_child != 0) document_.nodes_[open.last_child].next = child;
        document_.nodes_[open.node].has_children = true;
        open_.back().last_child = child;
        return value(child_node);
    }

    bool close(bool object) {
        ++at_;
        const std::uint32_t node = open_.back().node;
        document_.nodes_[node].end = static_cast<std::uint32_t>(at_);
        open_.pop_back();
        if (object && !document_.duplicate_at_) find_duplicate(node);
        return true;
    }

    bool value(JsonDocument::Node node) {  // which has its name already
        if (document_.nodes_.size() >= limits_.nodes) return fail("too many values");
        node.begin = static_cast<std::uint32_t>(at_);
        const char c = peek();
        if (c == '{' || c == '[') {
            if (open_.size() >= limits_.depth) return fail("nested too deeply");
            node.kind = c == '{' ? JsonKind::object : JsonKind::array;
            ++at_;
            open_.push_back(Open{static_cast<std::uint32_t>(document_.nodes_.size()), 0});
        } else if (!scalar(c, node)) {
            return false;
        }
        node.end = static_cast<std::uint32_t>(at_);
        document_.nodes_.push_back(node);
        return true;
    }

    bool scalar(char c, JsonDocument::Node& node) {
        if (c == '"') {
            node.kind = JsonKind::string;
            return string(node.escaped);
        }
        if (c == '-' || is_digit(c)) {
            node.kind = JsonKind::number;
            return number();
        }
        if (c == 't' || c == 'f') {
            node.kind = JsonKind::boolean;
            return word(c == 't' ? "true" : "false");
        }
        if (c == 'n') return word("null");
        return fail(at_ < text_.size() ? "expected a value" : "the text ends where a value is expected");
    }

    bool word(std::string_view expected) {
        if (text_.substr(at_, expected.size()) != expected) return fail("expected a value");
        at_ += expected.size();
        return true;
    }

    bool digits() {
        if (!is_digit(peek())) return fail("expected a digit");
        while (is_digit(peek())) ++at_;
        return true;
    }

    bool number() {
        if (peek() == '-') ++at_;
        if (peek() == '0') {
            ++at_;
        } else if (!digits()) {
            return false;
        }
        if (peek() == '.') {
            ++at_;
            if (!digits()) return false;
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at_;
            if (peek() == '+' || peek() == '-') ++at_;
            return digits();
        }
        return true;
    }

    bool string(bool& escaped) {
        ++at_;
        for (;;) {
            at_ = end_of_plain(text_, at_);
            if (at_ == text_.size()) break;
            const auto byte = static_cast<unsigned char>(text_[at_]);
            if (byte == '"') {
                ++at_;
                return true;
            } else if (byte == '\\') {
                escaped = true;
                if (!escape()) return false;
            } else if (byte < 0x20) {
                return fail("a control character inside a string");
            } else {
                const std::size_t length = utf8_length(text_, at_);
                if (length == 0) return fail("the text is not UTF-8");
                at_ += length;
            }
        }
        return fail("a string without an end");
    }

    bool escape() {
        const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        if (c != 'u') {
            if (c == '\0' || std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
                return fail("an unknown escape");
            }
            at_ += 2;
            return true;
        }
        const int unit = code_unit();
        if (unit < 0) return fail("a broken \\u escape");
        if (unit >= 0xDC00 && unit < 0xE000) return fail("a lone surrogate");
        at_ += 6;
        if (unit < 0xD800 || unit >= 0xE000) return true;
        const int low = peek() == '\\' ? code_unit() : -1;
        if (low < 0xDC00 || low >= 0xE000) return fail("a lone surrogate");
        at_ += 6;
        return true;
    }

    int code_unit() const {  // of the "\uXXXX" at this place
        if (text_.size() - at_ < 6 || text_[at_ + 1] != 'u') return -1;
        int unit = 0;
        for (std::size_t i = 2; i < 6; ++i) {
            const int digit = hex_digit(text_[at_ + i]);
            if (digit < 0) return -1;
            unit = unit * 16 + digit;
        }
        return unit;
    }

    struct Name {
        std::string_view text;
        std::size_t at;
    };

    void find_duplicate(std::uint32_t node) {
        names_.clear();
        decoded_.clear();
        for (auto child = JsonValue(&document_, node).first(); child; child = child->next()) {
            std::string scratch;
            std::string_view name = child->name(scratch);
            if (name.data() == scratch.data()) name = decoded_.emplace_back(name);
            names_.push_back(Name{name, child->name_begin()});
        }
        if (names_.size() <= pairwise_members_max) {
            for (std::size_t i = 1; i < names_.size(); ++i) {
                for (std::size_t j = 0; j < i; ++j) {
                    if (names_[i].text == names_[j].text) return note_duplicate(names_[i].at);
                }
            }
            return;
        }
        std::sort(names_.begin(), names_.end(), [](const Name& a, const Name& b) {
            if (a.text.size() != b.text.size()) return a.text.size() < b.text.size();
            const int order = a.text.compare(b.text);
            return order != 0 ? order < 0 : a.at < b.at;
        });
        for (std::size_t i = 1; i < names_.size(); ++i) {
            if (names_[i].text == names_[i - 1].text) return note_duplicate(names_[i].at);
        }
    }
    void note_duplicate(std::size_t at) { document_.duplicate_at_ = at; }

    JsonDocument& document_;
    std::string_view text_;
    JsonLimits limits_;
    std::size_t at_ = 0;
    const char* what_ = "";
    std::vector<Open> open_;
    std::vector<Name> names_;
    std::deque<std::string> decoded_;
};

Result<JsonDocument> read_json(std::string_view text, JsonLimits limits) {
    if (text.size() > 0xFFFF'FFFFu) return Error(ErrorKind::invalid, "the JSON text is larger than 4 GiB");
    JsonDocument document;
    JsonParser parser(document, text, limits);
    if (!parser.run()) {
        return Error(ErrorKind::invalid, fmt::format("not JSON at byte {}: {}", parser.at(), parser.what()));
    }
    return document;
}

}  // namespace opid
