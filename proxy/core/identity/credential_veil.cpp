#include "core/identity/credential_veil.hpp"

#include <algorithm>
#include <array>

#include "base/encoding.hpp"
#include "core/identity/form_fields.hpp"

namespace opid {
namespace {

constexpr std::array<std::string_view, 7> whole_names{"key", "auth", "sig", "code", "jwt", "pwd", "sid"};
constexpr std::array<std::string_view, 11> name_parts{"token",     "secret",     "password",     "passwd",
                                                      "signature", "credential", "api_key",      "apikey",
                                                      "api-key",   "session",    "authorization"};

bool may_be_credential(std::string_view raw_name) {
    const std::string name = ascii_lower(form_decoded(raw_name).value_or(std::string(raw_name)));
    return std::find(whole_names.begin(), whole_names.end(), name) != whole_names.end() ||
           std::any_of(name_parts.begin(), name_parts.end(),
                       [&name](std::string_view part) { return name.find(part) != std::string::npos; });
}

// Calls visit(begin, end) with the place of each such value in the target.
template <class Visit>
void each_credential(std::string_view target, Visit visit) {
    const std::size_t question = target.find('?');
    if (question == std::string_view::npos) return;
    const std::size_t start = question + 1;
    const std::string_view query = target.substr(start);
    for (const FormPair& pair : split_form(query)) {
        const bool empty = !pair.has_value || pair.end == pair.name_end + 1;
        if (empty || !may_be_credential(query.substr(pair.begin, pair.name_end - pair.begin))) continue;
        visit(start + pair.name_end + 1, start + pair.end);
    }
}

}  // namespace

std::string veiled_target(std::string_view target) {
    std::string veiled;
    std::size_t copied = 0;
    each_credential(target, [&](std::size_t begin, std::size_t end) {
        veiled.append(target.substr(copied, begin - copied)).append("***");
        copied = end;
    });
    return veiled.append(target.substr(copied));
}

bool has_credentials(std::string_view target) {
    bool found = false;
    each_credential(target, [&found](std::size_t, std::size_t) { found = true; });
    return found;
}

}  // namespace opid
