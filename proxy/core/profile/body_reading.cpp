#include "core/profile/body_reading.hpp"

#include "base/encoding.hpp"
#include "core/identity/canonical_form.hpp"

namespace opid {
namespace {

std::string decode_part(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+') {
            out += ' ';
            continue;
        }
        if (text[i] == '%' && i + 2 < text.size()) {
            if (const auto byte = from_hex(text.substr(i + 1, 2))) {
                out += *byte;
                i += 2;
                continue;
            }
        }
        out += text[i];
    }
    return out;
}

// /a/b -> a[b]
std::string field_name(const JsonPointer& pointer) {
    std::string name;
    for (const std::string& segment : pointer.segments()) {
        if (name.empty()) {
            name = segment;
        } else {
            name += "[" + segment + "]";
        }
    }
    return name;
}

}  // namespace

TextPairs decode_form(std::string_view text) {
    TextPairs pairs;
    while (!text.empty()) {
        const std::size_t end = text.find('&');
        const std::string_view pair = text.substr(0, end);
        if (!pair.empty()) {
            const std::size_t equals = pair.find('=');
            const std::string_view value = equals == std::string_view::npos ? std::string_view()
                                                                            : pair.substr(equals + 1);
            pairs.emplace_back(decode_part(pair.substr(0, equals)), decode_part(value));
        }
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return pairs;
}

void BodyReading::read() {
    if (read_) return;
    read_ = true;
    essence_ = opid::media_essence(media_type_);
    if (is_form_media_type(essence_)) {
        form_ = decode_form(body_);
        return;
    }
    // Whatever the media type says: many servers read JSON out of anything.
    auto document = read_json(body_);
    if (document && !document->duplicate_at()) json_ = std::move(*document);
}

const JsonDocument* BodyReading::json() {
    read();
    return json_ ? &*json_ : nullptr;
}

const TextPairs* BodyReading::form() {
    read();
    return form_ ? &*form_ : nullptr;
}

bool BodyReading::readable() { return json() != nullptr || form() != nullptr; }

std::optional<BodyReading::Value> BodyReading::value(const JsonPointer& pointer) {
    read();
    if (json_) {
        const auto found = pointer.resolve(json_->root());
        if (!found) return std::nullopt;
        return Value{found->raw(), true};
    }
    if (form_) {
        const std::string name = field_name(pointer);
        for (const auto& [field, text] : *form_) {
            if (field == name) return Value{text, false};
        }
    }
    return std::nullopt;
}

}  // namespace opid
