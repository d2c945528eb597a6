#include "core/identity/form_fields.hpp"

#include <algorithm>

#include "core/identity/netstring.hpp"

namespace opid {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

}  // namespace

std::vector<FormPair> split_form(std::string_view text) {
    std::vector<FormPair> pairs;
    for (std::size_t at = 0; at < text.size();) {
        FormPair pair;
        pair.begin = at;
        pair.end = std::min(text.find('&', at), text.size());
        const std::size_t equals = text.substr(0, pair.end).find('=', at);
        pair.has_value = equals != std::string_view::npos;
        pair.name_end = pair.has_value ? equals : pair.end;
        if (pair.end > pair.begin) pairs.push_back(pair);
        at = pair.end + 1;
    }
    return pairs;
}

std::optional<std::string> form_decoded(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+') {
            decoded.push_back(' ');
        } else if (text[i] != '%') {
            decoded.push_back(text[i]);
        } else {
            const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            decoded.push_back(static_cast<char>(high * 16 + low));
            i += 2;
        }
    }
    return decoded;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char c : text) {
        if (unreserved(c)) {
            encoded.push_back(c);
        } else {
            encoded.push_back('%');
            encoded.push_back(digits[static_cast<unsigned char>(c) >> 4]);
            encoded.push_back(digits[static_cast<unsigned char>(c) & 15]);
        }
    }
    return encoded;
}

std::optional<std::vector<BodyField>> form_fields(std::string_view body) {
    std::vector<BodyField> fields;
    for (const FormPair& pair : split_form(body)) {
        auto name = form_decoded(body.substr(pair.begin, pair.name_end - pair.begin));
        if (!name) return std::nullopt;
        BodyField field;
        field.path = field_path(*name);
        field.name = std::move(*name);
        field.has_value = pair.has_value;
        if (pair.has_value) {
            auto value = form_decoded(body.substr(pair.name_end + 1, pair.end - pair.name_end - 1));
            if (!value) return std::nullopt;
            field.value = std::move(*value);
        }
        fields.push_back(std::move(field));
    }
    return fields;
}

std::string encode_form_field(const BodyField& field) {
    std::string encoded;
    append_netstring(encoded, field.name);
    if (field.has_value) {
        encoded.push_back('=');
        append_netstring(encoded, field.value);
    }
    encoded.push_back(',');
    return encoded;
}

}  // namespace opid
