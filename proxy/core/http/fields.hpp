#pragma once
// Header and trailer fields in wire order and wire case. FieldList views a buffer that somebody else keeps alive
// and unmoved; OwnedFields owns its text. Names compare without regard to ASCII case.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opid::http {

struct Field {
    std::string_view name;
    std::string_view value;  // without blanks at its ends
    friend bool operator==(const Field&, const Field&) = default;
};

struct OwnedField {
    std::string name;
    std::string value;
    friend bool operator==(const OwnedField&, const OwnedField&) = default;
};

// Walks the elements of one comma list (RFC 9110 section 5.6.1): blanks trimmed, empty elements skipped, commas in
// quoted strings left alone.
class ListCursor {
public:
    explicit ListCursor(std::string_view list) : rest_(list) {}
    bool next(std::string_view& element);  // false at the end

private:
    std::string_view rest_;
};

template <class F>
class BasicFields {
public:
    using const_iterator = typename std::vector<F>::const_iterator;

    void add(std::string_view name, std::string_view value) {
        fields_.push_back(F{decltype(F::name)(name), decltype(F::value)(value)});
    }
    void clear() noexcept { fields_.clear(); }  // keeps the capacity
    void reserve(std::size_t count) { fields_.reserve(count); }

    // Replaces all fields of that name by one, at the place of the first, or appends it.
    void set(std::string_view name, std::string_view value);
    std::size_t remove(std::string_view name);  // how many were removed

    std::size_t size() const noexcept { return fields_.size(); }
    bool empty() const noexcept { return fields_.empty(); }
    const_iterator begin() const noexcept { return fields_.begin(); }
    const_iterator end() const noexcept { return fields_.end(); }
    const F& operator[](std::size_t index) const { return fields_[index]; }

    bool has(std::string_view name) const { return count(name) > 0; }
    std::size_t count(std::string_view name) const;
    std::optional<std::string_view> get(std::string_view name) const;       // the first one's value
    std::vector<std::string_view> values(std::string_view name) const;      // in order, one a line
    std::vector<std::string_view> elements(std::string_view name) const;    // comma lists of all lines in one sequence
    bool has_element(std::string_view name, std::string_view token) const;  // ignoring ASCII case
    std::string joined(std::string_view name) const;  // values joined by ", "; never for Set-Cookie

    friend bool operator==(const BasicFields&, const BasicFields&) = default;

private:
    std::vector<F> fields_;
};

using FieldList = BasicFields<Field>;
using OwnedFields = BasicFields<OwnedField>;

extern template class BasicFields<Field>;
extern template class BasicFields<OwnedField>;

OwnedFields own(const FieldList& fields);
FieldList view(const OwnedFields& fields);  // valid while `fields` lives and is not changed

bool is_token(std::string_view text);        // RFC 9110 section 5.6.2, not empty
bool is_field_value(std::string_view text);  // RFC 9110 section 5.5: no control byte but HTAB, no outer blanks

}  // namespace opid::http
