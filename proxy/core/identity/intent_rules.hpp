#pragma once
// What a rule of a profile says about comparing requests. A plain value; the settings layer fills it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/identity/json_pointer.hpp"
#include "core/identity/key_carrier.hpp"

namespace opid {

// Stored in every digest. Never renumber or reuse.
enum class BodyForm : std::uint8_t {
    raw = 1,  // bytes as they came
    json = 2,
    form = 3,       // application/x-www-form-urlencoded
    multipart = 4,  // multipart/*
    graphql = 5,    // operation name, normalised document, variables
    jsonrpc = 6,    // method and params; the envelope's id is left out
};

// The amount at `at`: a JSON string is a decimal in major units ("10.50"), a JSON integer counts minor units (1050);
// in a form, text with a point is major and text without is minor. The currency is a member (its wildcards take the
// segments of the amount) or fixed. Minor units by ISO 4217: see currency.hpp. Other values, and amounts without a
// three-letter currency, are compared as they stand.
struct MoneyRule {
    JsonPattern at;
    JsonPattern currency;       // used when currency_code is empty
    std::string currency_code;  // fixed, for example "USD"

    friend bool operator==(const MoneyRule&, const MoneyRule&) = default;
};

// Patterns point into a JSON body. In a form, /a/b is the field a[b] (also spelt /a[b]) and /a covers a, a[] and a[0];
// in multipart, /name is a part. Values that a normaliser doesn't understand are compared as they stand.
struct IntentRules {
    std::vector<JsonPattern> ignore;  // left out, with all below them
    std::vector<JsonPattern> set;     // lists whose order is free; how often an element occurs still counts
    std::vector<MoneyRule> money;
    std::vector<JsonPattern> email;         // trimmed, domain in lower case; the local part as it stands
    std::vector<JsonPattern> timestamp;     // RFC 3339: the instant in UTC with its exact fraction
    std::vector<JsonPattern> trim;          // ASCII white space at both ends
    std::vector<JsonPattern> casefold;      // ASCII letters in lower case
    std::vector<std::string> headers;       // names that are part of the intent, any case
    std::vector<std::string> ignore_query;  // query names (decoded) that are left out
    std::vector<KeyCarrier> key_carriers;   // where a key may sit: left out wherever that is
    std::optional<BodyForm> body_form;  // graphql or jsonrpc where the profile knows; else by media type and content

    friend bool operator==(const IntentRules&, const IntentRules&) = default;
};

// Credentials and opid's own fields never become part of an intent, whatever a profile names.
bool never_in_intent(std::string_view header_name);

}  // namespace opid
