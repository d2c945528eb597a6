#pragma once
// A body that rules point into: JSON, or a form. Read when first asked.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/identity/json_pointer.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {

using TextPairs = std::vector<std::pair<std::string, std::string>>;

// Decodes application/x-www-form-urlencoded, and queries without their "?". Broken escapes stay as they are.
TextPairs decode_form(std::string_view text);

class BodyReading {
public:
    // Both are views that must outlive this; the body is decoded content.
    BodyReading(std::string_view media_type, std::string_view body) : media_type_(media_type), body_(body) {}

    struct Value {
        std::string_view text;  // JSON text of the value, or the value of the form field
        bool is_json = true;
    };
    std::optional<Value> value(const JsonPointer& pointer);
    bool readable();             // JSON without duplicated members, or a form
    const JsonDocument* json();  // null: not JSON, or with duplicated members
    const TextPairs* form();     // null: not a form
    std::string_view media_essence() const { return essence_; }

private:
    void read();

    std::string_view media_type_;
    std::string_view body_;
    bool read_ = false;
    std::string essence_;
    std::optional<JsonDocument> json_;
    std::optional<TextPairs> form_;
};

}  // namespace opid
