#include "core/answer/replay_fields.hpp"

#include <algorithm>
#include <array>

#include "base/encoding.hpp"
#include "core/answer/jsonrpc_id.hpp"
#include "core/http/fields.hpp"
#include "core/identity/content_decoding.hpp"

namespace opid {
namespace {

constexpr std::array<std::string_view, 14> result_fields{"content-type",
                                                         "content-encoding",
                                                         "content-language",
                                                         "content-disposition",
                                                         "content-location",
                                                         "location",
                                                         "etag",
                                                         "last-modified",
                                                         "link",
                                                         "vary",
                                                         "allow",
                                                         "idempotency-key",
                                                         "original-request",
                                                         "warning"};

// Providers name references in fields of their own; these endings are what they use.
constexpr std::array<std::string_view, 8> reference_endings{"-id",      "-ids",      "-ref", "-reference",
                                                            "-version", "-location", "-uri", "-resource"};

constexpr std::array<std::string_view, 8> private_words{"session", "token", "cookie",    "auth",
                                                        "csrf",    "xsrf",  "ratelimit", "rate-limit"};

std::string find_field(const StoredFields& fields, std::string_view name) {
    for (const auto& [field, value] : fields) {
        if (equal_ignoring_case(field, name)) return value;
    }
    return {};
}

void drop_field(StoredFields& fields, std::string_view name) {
    std::erase_if(fields, [name](const auto& field) { return equal_ignoring_case(field.first, name); });
}

// RFC 9110 section 12.5.3: a coding is acceptable when listed with a weight above 0, or by "*", or when the field
// is absent. An empty field accepts identity alone.
bool accepts(const ReplayContext& context, std::string_view coding) {
    if (!context.accept_encoding_present) return true;
    bool by_star = false;
    http::ListCursor cursor(context.accept_encoding);
    std::string_view element;
    while (cursor.next(element)) {
        const auto semicolon = element.find(';');
        const std::string_view name = trim_blank(element.substr(0, semicolon));
        std::string_view weight = semicolon == std::string_view::npos ? "" : trim_blank(element.substr(semicolon + 1));
        const bool zero = weight.starts_with("q=0") && weight.find_first_of("123456789", 3) == std::string_view::npos;
        if (equal_ignoring_case(name, coding)) return !zero;
        if (name == "*" && !zero) by_star = true;
    }
    return by_star;
}

bool accepts_all(const ReplayContext& context, std::string_view codings) {
    http::ListCursor cursor(codings);
    std::string_view coding;
    while (cursor.next(coding)) {
        if (!accepts(context, coding)) return false;
    }
    return true;
}

}  // namespace

bool is_withheld_field(std::string_view name) {
    return equal_ignoring_case(name, "Idempotent-Replayed") || equal_ignoring_case(name, "Opid-Problem") ||
           (name.size() > 10 && equal_ignoring_case(name.substr(0, 10), "Operation-"));
}

bool is_replayed_field(std::string_view name) {
    std::array<char, 64> room;
    std::string longer;
    std::string_view lower;
    if (name.size() <= room.size()) {
        std::transform(name.begin(), name.end(), room.begin(), [](char c) { return ascii_lower(c); });
        lower = {room.data(), name.size()};
    } else {
        longer = ascii_lower(name);
        lower = longer;
    }
    const bool listed = std::find(result_fields.begin(), result_fields.end(), lower) != result_fields.end() ||
                        std::any_of(reference_endings.begin(), reference_endings.end(),
                                    [lower](std::string_view ending) { return lower.ends_with(ending); });
    if (!listed || is_withheld_field(lower)) return false;
    return std::none_of(private_words.begin(), private_words.end(),
                        [lower](std::string_view word) { return lower.find(word) != std::string_view::npos; });
}

StoredFields fields_to_keep(const StoredFields& received) {
    StoredFields kept;
    for (const auto& field : received) {
        if (is_replayed_field(field.first)) kept.push_back(field);
    }
    return kept;
}

void add_operation_fields(StoredFields& fields, const Operation& operation) {
    fields.emplace_back("Operation-Id", operation.id);
    fields.emplace_back("Operation-Status", std::string(to_word(operation.status)));
    if (!operation.attempts.empty()) fields.emplace_back("Operation-Attempt", operation.attempts.back().id);
}

Answer replay_answer(const Operation& operation, std::shared_ptr<const std::string> body,
                     const ReplayContext& context) {
    Answer answer;
    const RecordedResponse& stored = *operation.response;
    answer.status = stored.status;
    answer.reason = stored.reason;
    answer.fields = stored.headers;
    answer.body = std::move(body);
    const std::string coding = find_field(stored.headers, "Content-Encoding");
    const bool decode = !is_identity_coding(coding) && (!accepts_all(context, coding) || !context.jsonrpc_id.empty());
    if (decode) {
        DecodedContent decoded = decode_content(coding, *answer.body, context.decoded_max);
        // What can't be decoded goes out as it came, honestly labelled.
        if (decoded.outcome == DecodeOutcome::decoded) {
            answer.body = std::make_shared<const std::string>(std::move(decoded.bytes));
            drop_field(answer.fields, "Content-Encoding");
        }
    }
    if (!context.jsonrpc_id.empty()) {
        const std::string type = find_field(answer.fields, "Content-Type");
        answer.body = std::make_shared<const std::string>(with_jsonrpc_id(type, *answer.body, context.jsonrpc_id));
    }
    add_operation_fields(answer.fields, operation);
    if (context.marked) answer.fields.emplace_back("Idempotent-Replayed", "true");
    if (stored.recovered) {
        answer.fields.emplace_back("Operation-Recovered", "look-up");
    } else if (!operation.history.empty() && operation.history.back().what == "resolved") {
        answer.fields.emplace_back("Operation-Recovered", "operator");
    }
    return answer;
}

}  // namespace opid
