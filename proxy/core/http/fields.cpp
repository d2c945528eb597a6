#include "core/http/fields.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "core/http/octets.hpp"

namespace opid::http {
namespace {

// Where the element at the start of `list` ends: at its comma or at the end. A quote that never closes runs to the end.
std::size_t element_end(std::string_view list) {
    std::size_t at = list.find_first_of(",\"");
    while (at != std::string_view::npos && list[at] == '"') {
        ++at;
        while (at < list.size() && list[at] != '"') at += list[at] == '\\' ? 2 : 1;
        if (at >= list.size()) return list.size();
        at = list.find_first_of(",\"", at + 1);
    }
    return std::min(at, list.size());
}

}  // namespace

bool ListCursor::next(std::string_view& element) {
    while (!rest_.empty()) {
        const std::size_t end = element_end(rest_);
        element = trim_blank(rest_.substr(0, end));
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (!element.empty()) return true;
    }
    return false;
}

template <class F>
void BasicFields<F>::set(std::string_view name, std::string_view value) {
    const auto same = [name](const F& field) { return equal_ignoring_case(field.name, name); };
    const auto first = std::find_if(fields_.begin(), fields_.end(), same);
    if (first == fields_.end()) {
        add(name, value);
        return;
    }
    F replacement{decltype(F::name)(name), decltype(F::value)(value)};  // `name` may point into what it replaces
    const auto again = [&](const F& field) { return equal_ignoring_case(field.name, replacement.name); };
    fields_.erase(std::remove_if(first + 1, fields_.end(), again), fields_.end());
    *first = std::move(replacement);
}

template <class F>
std::size_t BasicFields<F>::remove(std::string_view name) {
    const std::string wanted(name);  // it may point into a field that goes
    return std::erase_if(fields_, [&](const F& field) { return equal_ignoring_case(field.name, wanted); });
}

template <class F>
std::size_t BasicFields<F>::count(std::string_view name) const {
    const auto same = [name](const F& field) { return equal_ignoring_case(field.name, name); };
    return static_cast<std::size_t>(std::count_if(fields_.begin(), fields_.end(), same));
}

template <class F>
std::optional<std::string_view> BasicFields<F>::get(std::string_view name) const {
    for (const F& field : fields_) {
        if (equal_ignoring_case(field.name, name)) return std::string_view(field.value);
    }
    return std::nullopt;
}

template <class F>
std::vector<std::string_view> BasicFields<F>::values(std::string_view name) const {
    std::vector<std::string_view> all;
    for (const F& field : fields_) {
        if (equal_ignoring_case(field.name, name)) all.emplace_back(field.value);
    }
    return all;
}

template <class F>
std::vector<std::string_view> BasicFields<F>::elements(std::string_view name) const {
    std::vector<std::string_view> all;
    for (const F& field : fields_) {
        if (!equal_ignoring_case(field.name, name)) continue;
        ListCursor cursor(field.value);
        std::string_view element;
        while (cursor.next(element)) all.push_back(element);
    }
    return all;
}

template <class F>
bool BasicFields<F>::has_element(std::string_view name, std::string_view token) const {
    for (const F& field : fields_) {
        if (!equal_ignoring_case(field.name, name)) continue;
        ListCursor cursor(field.value);
        std::string_view element;
        while (cursor.next(element)) {
            if (equal_ignoring_case(element, token)) return true;
        }
    }
    return false;
}

template <class F>
std::string BasicFields<F>::joined(std::string_view name) const {
    std::string text;
    bool first = true;
    for (const F& field : fields_) {
        if (!equal_ignoring_case(field.name, name)) continue;
        if (!first) text += ", ";
        text += field.value;
        first = false;
    }
    return text;
}

template class BasicFields<Field>;
template class BasicFields<OwnedField>;

OwnedFields own(const FieldList& fields) {
    OwnedFields owned;
    owned.reserve(fields.size());
    for (const Field& field : fields) owned.add(field.name, field.value);
    return owned;
}

FieldList view(const OwnedFields& fields) {
    FieldList views;
    views.reserve(fields.size());
    for (const OwnedField& field : fields) views.add(field.name, field.value);
    return views;
}

bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

bool is_field_value(std::string_view text) {
    if (text.empty()) return true;
    if (is_blank(text.front()) || is_blank(text.back())) return false;
    return std::all_of(text.begin(), text.end(), is_value_char);
}

}  // namespace opid::http
