#include "surfaces/admin/admin_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace opid {
namespace {

Error invalid(std::string what) { return Error(ErrorKind::invalid, std::move(what)); }

std::string listed(std::span<const std::string_view> names) {
    return fmt::format("{}", fmt::join(names.begin(), names.end(), ", "));
}

std::optional<Millis> duration_from(std::string_view text) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    constexpr std::int64_t day = 86400;
    const std::int64_t seconds = unit == "s" || unit.empty() ? 1
                                 : unit == "m"               ? 60
                                 : unit == "h"               ? 3600
                                 : unit == "d"               ? day
                                                             : 0;
    if (error != std::errc() || seconds == 0 || count < 1 || count > 400 * day / seconds) return std::nullopt;
    return Millis{count * seconds * 1000};
}

}  // namespace

Result<AdminFields> AdminFields::parse(std::string_view body, std::span<const std::string_view> known) {
    JsonLimits limits;
    limits.depth = 64;
    limits.nodes = 1u << 16;
    const Result<JsonDocument> document = read_json(body, limits);
    if (!document || !document->root().is(JsonKind::object)) {
        return invalid(fmt::format("the body has to be a JSON object with the members {}", listed(known)));
    }
    if (document->duplicate_at()) return invalid("the body names a member twice");
    AdminFields fields;
    for (auto value = document->root().first(); value; value = value->next()) {
        Member member;
        member.name = value->name();
        if (std::find(known.begin(), known.end(), member.name) == known.end()) {
            return invalid(fmt::format("unknown member '{}'; known are {}", member.name.substr(0, 64), listed(known)));
        }
        member.kind = value->kind();
        member.raw = std::string(value->raw());
        if (value->is(JsonKind::string)) member.text = value->string();
        fields.members_.push_back(std::move(member));
    }
    return fields;
}

const AdminFields::Member* AdminFields::find(std::string_view name) const {
    const auto at = std::find_if(members_.begin(), members_.end(), [name](const Member& m) { return m.name == name; });
    return at == members_.end() || at->kind == JsonKind::null ? nullptr : &*at;
}

Result<std::optional<std::string>> AdminFields::text(std::string_view name, std::size_t bytes_max) const {
    const Member* member = find(name);
    if (member == nullptr) return std::optional<std::string>();
    if (member->kind != JsonKind::string) return invalid(fmt::format("'{}' has to be a string", name));
    const bool plain = std::none_of(member->text.begin(), member->text.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    const bool blank = member->text.find_first_not_of(' ') == std::string::npos;
    if (blank || member->text.size() > bytes_max || !plain) {
        return invalid(fmt::format("'{}' has to have 1 to {} bytes without control characters", name, bytes_max));
    }
    return std::optional<std::string>(member->text);
}

Result<std::string> AdminFields::needed_text(std::string_view name, std::size_t bytes_max) const {
    Result<std::optional<std::string>> found = text(name, bytes_max);
    if (!found) return found.error();
    if (!*found) return invalid(fmt::format("'{}' is missing", name));
    return std::move(**found);
}

Result<Millis> AdminFields::needed_duration(std::string_view name) const {
    const Member* member = find(name);
    if (member == nullptr) return invalid(fmt::format("'{}' is missing", name));
    const bool fits = member->kind == JsonKind::string || member->kind == JsonKind::number;
    const auto duration = fits ? duration_from(member->kind == JsonKind::string ? member->text : member->raw)
                               : std::nullopt;
    if (!duration) return invalid(fmt::format("'{}' has to be a duration such as \"15m\", or whole seconds", name));
    return *duration;
}

std::optional<std::string> AdminFields::raw(std::string_view name) const {
    const Member* member = find(name);
    if (member == nullptr) return std::nullopt;
    return member->raw;
}

}  // namespace opid
