#include "core/profile/text_template.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/profile/body_reading.hpp"

namespace opid {
namespace {

Error invalid(std::string what) { return Error(ErrorKind::invalid, std::move(what)); }

void append_encoded(std::string& out, std::string_view text) {
    for (const char c : text) {
        const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (word || c == '-' || c == '.' || c == '_' || c == '~') {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
}

bool is_dot_segment(std::string_view text) { return text == "." || text == ".."; }

Result<std::string> request_value(const JsonPointer& pointer, BodyReading& body) {
    const auto value = body.value(pointer);
    if (!value) return invalid(fmt::format("the request has no {}", pointer.text()));
    if (!value->is_json) return std::string(value->text);
    const auto document = read_json(value->text);
    if (!document) return document.error();
    const JsonValue root = document->root();
    switch (root.kind()) {
        case JsonKind::string: return root.string();
        case JsonKind::number:
        case JsonKind::boolean: return std::string(root.raw());
        case JsonKind::null:
        case JsonKind::array:
        case JsonKind::object: break;
    }
    return invalid(fmt::format("{} of the request is no string, number or boolean", pointer.text()));
}

}  // namespace

Result<TextTemplate> TextTemplate::parse(std::string_view text) {
    TextTemplate result;
    const auto add_text = [&result](std::string_view piece) {
        if (result.parts_.empty() || result.parts_.back().kind != Kind::text) result.parts_.emplace_back();
        result.parts_.back().text += piece;
    };
    while (!text.empty()) {
        const std::size_t brace = text.find_first_of("{}");
        if (brace == std::string_view::npos || brace > 0) {
            add_text(text.substr(0, brace));
            text.remove_prefix(std::min(brace, text.size()));
            continue;
        }
        if (text.substr(0, 2) == "{{" || text.substr(0, 2) == "}}") {
            add_text(text.substr(0, 1));
            text.remove_prefix(2);
            continue;
        }
        const std::size_t end = text.find('}');
        if (text.front() == '}' || end == std::string_view::npos) {
            return invalid("a brace is alone; write '{{' or '}}' for a brace itself");
        }
        const std::string_view name = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        Part part;
        if (name == "operation_id") {
            part.kind = Kind::operation_id;
        } else if (name == "provider_key") {
            part.kind = Kind::provider_key;
        } else if (name.size() > 5 && name.substr(0, 5) == "path:") {
            part.kind = Kind::path;
            part.text = name.substr(5);
        } else if (name.substr(0, 8) == "request:") {
            auto pointer = JsonPointer::parse(name.substr(8));
            if (!pointer) return pointer.error();
            part.kind = Kind::request;
            part.pointer = std::move(*pointer);
        } else {
            return invalid(
                fmt::format("unknown template '{{{}}}'; there are {{operation_id}}, {{provider_key}}, "
                            "{{path:name}} and {{request:/pointer}}",
                            name));
        }
        result.parts_.push_back(std::move(part));
    }
    return result;
}

Result<std::string> TextTemplate::expand(const TemplateValues& values, TemplateUse use) const {
    std::string out;
    BodyReading body(values.media_type, values.body);
    for (const Part& part : parts_) {
        std::string value;
        switch (part.kind) {
            case Kind::text: out += part.text; continue;
            case Kind::operation_id: value = values.operation_id; break;
            case Kind::provider_key: value = values.provider_key; break;
            case Kind::path: {
                const PathCaptures none;
                const PathCaptures& captures = values.captures != nullptr ? *values.captures : none;
                const auto found = std::find_if(captures.begin(), captures.end(),
                                                [&](const auto& capture) { return capture.first == part.text; });
                if (found == captures.end()) return invalid(fmt::format("the path has no {{{}}}", part.text));
                value = found->second;
                // It is part of a path already, with the escapes that it needs.
                if (use == TemplateUse::target && !is_dot_segment(value)) {
                    out += value;
                    continue;
                }
                break;
            }
            case Kind::request: {
                auto found = request_value(part.pointer, body);
                if (!found) return found;
                value = std::move(*found);
                break;
            }
        }
        if (value.empty()) return invalid("a value that the template needs is empty");
        if (use == TemplateUse::plain) {
            out += value;
        } else if (is_dot_segment(value)) {
            return invalid("a value of the template is '.' or '..', which would leave its place in the path");
        } else {
            append_encoded(out, value);
        }
    }
    return out;
}

std::vector<std::string> TextTemplate::captures() const {
    std::vector<std::string> names;
    for (const Part& part : parts_) {
        if (part.kind == Kind::path) names.push_back(part.text);
    }
    return names;
}

bool TextTemplate::has_placeholder() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.kind != Kind::text; });
}

}  // namespace opid
