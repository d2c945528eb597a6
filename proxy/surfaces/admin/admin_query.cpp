#include "surfaces/admin/admin_query.hpp"

namespace opid {
namespace {

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool decode(std::string_view text, bool plus_is_blank, std::string& out) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_blank) {
            out += ' ';
        } else if (text[i] != '%') {
            out += text[i];
        } else {
            const int high = text.size() - i > 2 ? digit_of(text[i + 1]) : -1;
            const int low = text.size() - i > 2 ? digit_of(text[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            out += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return true;
}

// Calls take(part) for each part between separators.
template <class Take>
bool split(std::string_view text, char separator, Take take) {
    for (;;) {
        const auto at = text.find(separator);
        if (!take(text.substr(0, at))) return false;
        if (at == std::string_view::npos) return true;
        text.remove_prefix(at + 1);
    }
}

}  // namespace

std::string_view AdminTarget::value(std::string_view name) const {
    for (const auto& [key, text] : query) {
        if (key == name) return text;
    }
    return {};
}

std::optional<AdminTarget> parse_admin_target(std::string_view target) {
    AdminTarget out;
    const auto question = target.find('?');
    const std::string_view path = target.substr(0, question);
    if (path.empty() || path.front() != '/') return std::nullopt;
    out.path = std::string(path);
    const bool segments_fit = split(path.substr(1), '/', [&out](std::string_view part) {
        return decode(part, false, out.segments.emplace_back());
    });
    if (!segments_fit) return std::nullopt;
    if (question == std::string_view::npos) return out;
    const bool query_fits = split(target.substr(question + 1), '&', [&out](std::string_view part) {
        if (part.empty()) return true;
        const auto equals = part.find('=');
        auto& [name, value] = out.query.emplace_back();
        if (!decode(part.substr(0, equals), true, name)) return false;
        return equals == std::string_view::npos || decode(part.substr(equals + 1), true, value);
    });
    if (!query_fits) return std::nullopt;
    return out;
}

}  // namespace opid
