#include "core/identity/credential_veil.hpp"

#include <algorithm>
#include <array>

#include "base/encoding.hpp"
#include "base/sha256.hpp"
#include "core/identity/form_fields.hpp"

namespace opid {
namespace {

constexpr std::size_t fingerprint_digits = 32;
constexpr std::array<std::string_view, 11> whole_names{"auth", "sig",  "code", "jwt", "pwd", "sid",
                                                       "pass", "hmac", "hash", "otp", "pin"};
constexpr std::array<std::string_view, 13> name_parts{"token",     "secret",        "passw",  "passphrase", "passcode",
                                                      "signature", "credential",    "apikey", "api_key",    "api-key",
                                                      "session",   "authorization", "bearer"};
constexpr std::array<std::string_view, 2> name_ends{"key", "verifier"};

bool may_be_credential(std::string_view raw_name) {
    const std::string name = ascii_lower(form_decoded(raw_name).value_or(std::string(raw_name)));
    return std::find(whole_names.begin(), whole_names.end(), name) != whole_names.end() ||
           std::any_of(name_parts.begin(), name_parts.end(),
                       [&name](std::string_view part) { return name.find(part) != std::string::npos; }) ||
           std::any_of(name_ends.begin(), name_ends.end(),
                       [&name](std::string_view end) { return name.ends_with(end); });
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

// veil(out, value) appends what stands in place of each value.
template <class Veil>
std::string with_values_veiled(std::string_view target, Veil veil) {
    std::string veiled;
    std::size_t copied = 0;
    each_credential(target, [&](std::size_t begin, std::size_t end) {
        veiled.append(target.substr(copied, begin - copied)).append("***");
        veil(veiled, target.substr(begin, end - begin));
        copied = end;
    });
    return veiled.append(target.substr(copied));
}

}  // namespace

std::string veiled_target(std::string_view target, std::string_view salt) {
    return with_values_veiled(target, [salt](std::string& veiled, std::string_view value) {
        std::string salted(salt);
        salted.append(value);
        veiled.append(to_hex(sha256(salted)), 0, fingerprint_digits);
    });
}

bool has_credentials(std::string_view target) {
    bool found = false;
    each_credential(target, [&found](std::size_t, std::size_t) { found = true; });
    return found;
}

bool same_but_credentials(std::string_view a, std::string_view b) {
    const auto nothing = [](std::string&, std::string_view) {};
    return with_values_veiled(a, nothing) == with_values_veiled(b, nothing);
}

}  // namespace opid
