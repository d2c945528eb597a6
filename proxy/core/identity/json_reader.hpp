#pragma once
// A strict RFC 8259 reader that keeps the byte range of every value and member, so that a text can be spliced
// without re-writing it. The document is a flat list of nodes over the caller's text: one allocation, no copies.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace opid {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

struct JsonLimits {
    std::uint32_t depth = 512;       // nested arrays and objects
    std::uint32_t nodes = 1u << 22;  // values in one text; 28 bytes of memory each
};

class JsonDocument;

// A value inside a document: cheap to copy, valid while document and text stay where they are.
class JsonValue {
public:
    JsonKind kind() const;
    bool is(JsonKind kind_wanted) const { return kind() == kind_wanted; }
    std::size_t begin() const;     // byte offset of the first character of the value
    std::size_t end() const;       // one past its last
    std::string_view raw() const;  // the value as written
    bool boolean() const;          // only for booleans
    // The decoded string; `scratch` is used only where the text has escapes. Only for strings.
    std::string_view string(std::string& scratch) const;
    std::string string() const;

    std::optional<JsonValue> first() const;  // first element or member's value, in the order of the text
    std::optional<JsonValue> next() const;   // next one in the same array or object
    std::size_t size() const;                // counts: linear

    bool is_member() const;
    std::size_t name_begin() const;                     // byte offset of the opening quote of the member's name
    std::string_view name(std::string& scratch) const;  // decoded name; only for members
    std::string name() const;

    std::optional<JsonValue> member(std::string_view name) const;  // nullopt too where this is no object
    std::optional<JsonValue> element(std::size_t index) const;     // nullopt too where this is no array

private:
    friend class JsonDocument;
    friend class JsonParser;
    static std::string_view decoded(std::string_view quoted, bool escaped, std::string& scratch);
    JsonValue(const JsonDocument* document, std::uint32_t index) : document_(document), index_(index) {}
    const JsonDocument* document_;
    std::uint32_t index_;
};

class JsonDocument {
public:
    JsonValue root() const { return {this, 0}; }
    std::string_view text() const { return text_; }
    // Byte offset of a name that its object already had (compared after decoding). Such a text has no agreed
    // meaning: nobody may fold it, splice it or read an identity from it.
    std::optional<std::size_t> duplicate_at() const { return duplicate_at_; }

private:
    friend class JsonValue;
    friend class JsonParser;
    struct Node {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t name_begin = 0;
        std::uint32_t name_end = 0;
        std::uint32_t next = 0;  // 0: the last of its parent
        JsonKind kind = JsonKind::null;
        bool escaped = false;
        bool name_escaped = false;
        bool has_children = false;
        bool member = false;
    };
    std::string_view text_;
    std::vector<Node> nodes_;
    std::optional<std::size_t> duplicate_at_;
};

inline JsonKind JsonValue::kind() const { return document_->nodes_[index_].kind; }
inline std::size_t JsonValue::begin() const { return document_->nodes_[index_].begin; }
inline std::size_t JsonValue::end() const { return document_->nodes_[index_].end; }
inline std::string_view JsonValue::raw() const { return document_->text_.substr(begin(), end() - begin()); }
inline bool JsonValue::boolean() const { return document_->text_[begin()] == 't'; }
inline bool JsonValue::is_member() const { return document_->nodes_[index_].member; }
inline std::size_t JsonValue::name_begin() const { return document_->nodes_[index_].name_begin; }

inline std::optional<JsonValue> JsonValue::first() const {
    if (!document_->nodes_[index_].has_children) return std::nullopt;
    return JsonValue(document_, index_ + 1);
}

inline std::optional<JsonValue> JsonValue::next() const {
    const std::uint32_t next = document_->nodes_[index_].next;
    if (next == 0) return std::nullopt;
    return JsonValue(document_, next);
}

// Reads a whole text; the document refers to it, so it must outlive the document. Strict: UTF-8 without byte order
// mark, well-formed, paired surrogates, no trailing bytes, at most 4 GiB. Errors (invalid) give the byte offset.
// Time is linear in the text (n log n in the members of one object); nothing recurses.
Result<JsonDocument> read_json(std::string_view text, JsonLimits limits = {});

// Appends `text` (UTF-8) as a JSON string with its quotes and the escapes of RFC 8785 section 3.2.2.2.
void append_json_string(std::string& out, std::string_view text);

bool is_utf8(std::string_view bytes);  // RFC 3629: no overlong forms, no surrogates

}  // namespace opid
