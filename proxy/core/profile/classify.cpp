#include "core/profile/classify.hpp"

#include <algorithm>
#include <array>

#include "base/encoding.hpp"
#include "core/identity/canonical_form.hpp"
#include "core/identity/decimal.hpp"
#include "core/identity/json_pointer.hpp"
#include "core/profile/body_reading.hpp"

namespace opid {
namespace {

constexpr std::size_t reference_bytes_max = 1024;

bool is_success(int status) { return status >= 200 && status <= 299; }

bool is_outcome(Verdict verdict) {
    switch (verdict) {
        case Verdict::succeeded:
        case Verdict::failed:
        case Verdict::not_executed:
        case Verdict::unknown: return true;
        case Verdict::in_flight:
        case Verdict::mismatch:
        case Verdict::duplicate:
        case Verdict::replayed: return false;
    }
    return false;
}

std::vector<std::string_view> lines_of(const AnswerView& answer, std::string_view name) {
    std::vector<std::string_view> lines;
    if (answer.headers == nullptr) return lines;
    for (const auto& [field, value] : *answer.headers) {
        if (equal_ignoring_case(field, name)) lines.push_back(value);
    }
    return lines;
}

std::string_view first_line_of(const AnswerView& answer, std::string_view name) {
    const auto lines = lines_of(answer, name);
    return lines.empty() ? std::string_view() : lines.front();
}

// The data of the last JSON-RPC response (not of a request or notification) in an event stream.
std::string last_response_in_events(std::string_view stream) {
    std::string last;
    std::string data;
    const auto end_event = [&] {
        const auto document = read_json(data);
        if (document && (document->root().member("result") || document->root().member("error"))) last = data;
        data.clear();
    };
    while (!stream.empty()) {
        const std::size_t end = stream.find_first_of("\r\n");
        std::string_view line = stream.substr(0, end);
        if (line.empty()) {
            end_event();
        } else if (line.substr(0, 5) == "data:") {
            line.remove_prefix(5);
            if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
            if (!data.empty()) data += '\n';
            data += line;
        }
        if (end == std::string_view::npos) break;
        stream.remove_prefix(stream.substr(end, 2) == "\r\n" ? end + 2 : end + 1);
    }
    end_event();
    return last;
}

// The body of the answer, parsed once; an event stream stands for the response in it.
class AnswerBody {
public:
    explicit AnswerBody(const AnswerView& answer) : body_("application/json", text_of(answer)) {}

    const JsonDocument* json() { return body_.json(); }

    bool holds(const std::string& pointer_text, const Predicate& predicate) {
        const auto pointer = JsonPointer::parse(pointer_text);
        if (!pointer || json() == nullptr) return false;
        const auto value = pointer->resolve(json()->root());
        return value ? predicate.holds_json(value->raw()) : predicate.holds_json(std::nullopt);
    }

    std::optional<JsonValue> at(const std::string& pointer_text) {
        const auto pointer = JsonPointer::parse(pointer_text);
        if (!pointer || json() == nullptr) return std::nullopt;
        return pointer->resolve(json()->root());
    }

private:
    std::string_view text_of(const AnswerView& answer) {
        if (media_essence(first_line_of(answer, "content-type")) != "text/event-stream") return answer.body;
        events_ = last_response_in_events(answer.body);
        return events_;
    }

    std::string events_;  // before body_, which views it
    BodyReading body_;
};

bool head_holds(const AnswerMatcher& matcher, const AnswerView& answer) {
    if (matcher.statuses && !matcher.statuses->contains(answer.status)) return false;
    return std::all_of(matcher.header.begin(), matcher.header.end(), [&](const auto& condition) {
        return condition.second.holds_any_text(lines_of(answer, condition.first));
    });
}

bool body_holds(const AnswerMatcher& matcher, AnswerBody& body) {
    return std::all_of(matcher.body.begin(), matcher.body.end(),
                       [&](const auto& condition) { return body.holds(condition.first, condition.second); });
}

// GraphQL, section 7.1: without data nothing was run; with it, some of it may have been.
Verdict graphql_verdict(AnswerBody& body) {
    if (body.json() == nullptr) return Verdict::unknown;
    const JsonValue root = body.json()->root();
    const auto data = root.member("data");
    const auto errors = root.member("errors");
    const bool failed = errors && !errors->is(JsonKind::null) && !(errors->is(JsonKind::array) && !errors->first());
    if (!failed) return data && !data->is(JsonKind::null) ? Verdict::succeeded : Verdict::unknown;
    return data ? Verdict::unknown : Verdict::failed;
}

// JSON-RPC 2.0, section 5.1: these four errors are found before a method runs.
Verdict jsonrpc_verdict(const AnswerView& answer, AnswerBody& body) {
    if (answer.status == 202 && answer.body.empty()) return Verdict::succeeded;  // MCP: a notification was taken
    if (body.json() == nullptr) return Verdict::unknown;
    const JsonValue root = body.json()->root();
    if (const auto error = root.member("error"); error && !error->is(JsonKind::null)) {
        static constexpr std::array<std::string_view, 4> never_run{"-32700", "-32600", "-32601", "-32602"};
        const auto code = error->member("code");
        const bool refused = code && std::find(never_run.begin(), never_run.end(), code->raw()) != never_run.end();
        return refused ? Verdict::failed : Verdict::unknown;
    }
    const auto result = root.member("result");
    if (!result) return Verdict::unknown;
    const auto tool_error = result->member("isError");
    return tool_error && tool_error->raw() == "true" ? Verdict::unknown : Verdict::succeeded;
}

bool speaks(const Rule& rule, BodyForm form) {
    return (form == BodyForm::graphql ? rule.match.graphql.has_value() : rule.match.jsonrpc.has_value()) ||
           rule.intent.body_form == form;
}

Verdict verdict_without_rule(const Rule& rule, const AnswerView& answer, AnswerBody& body) {
    if (is_success(answer.status)) {
        const bool graphql = speaks(rule, BodyForm::graphql);
        const bool jsonrpc = speaks(rule, BodyForm::jsonrpc);
        if ((graphql || jsonrpc) && !answer.body_available) return Verdict::unknown;
        if (graphql) return graphql_verdict(body);
        if (jsonrpc) return jsonrpc_verdict(answer, body);
    }
    return default_verdict(answer.status);
}

std::string usable_reference(std::string text) {
    const bool printable = std::none_of(text.begin(), text.end(),
                                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (!printable || text.size() > reference_bytes_max) return {};
    return text;
}

std::string text_of_value(const std::optional<JsonValue>& value) {
    if (!value) return {};
    if (value->is(JsonKind::string)) return usable_reference(value->string());
    if (value->is(JsonKind::number)) return usable_reference(std::string(value->raw()));
    return {};
}

std::string reference_at(const ReferenceSource& source, const AnswerView& answer, AnswerBody& body) {
    if (source.kind == ReferenceSource::Kind::header) {
        return usable_reference(std::string(first_line_of(answer, source.name)));
    }
    return text_of_value(body.at(source.name));
}

std::string reference_by_custom(const AnswerView& answer, AnswerBody& body) {
    std::string location = usable_reference(std::string(first_line_of(answer, "location")));
    return location.empty() ? text_of_value(body.at("/id")) : location;
}

// An error text often has an `id` or `code` of its own; only a body that does not look like one is an object.
bool looks_like_error(AnswerBody& body) {
    if (body.json() == nullptr) return true;
    const JsonValue root = body.json()->root();
    static constexpr std::array<std::string_view, 7> words{"error",  "errors", "message",          "code",
                                                           "detail", "title",  "error_description"};
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return root.member(word).has_value(); });
}

void find_object(const Rule& rule, const VerdictRule* matched, const AnswerView& answer, AnswerBody& body,
                 Classified& out) {
    const bool duplicate = out.verdict == Verdict::duplicate;
    if (!duplicate && out.verdict != Verdict::succeeded) return;
    if (matched != nullptr && matched->reference) {
        out.provider_ref = reference_at(*matched->reference, answer, body);
    } else if (!duplicate && rule.reference) {
        out.provider_ref = reference_at(*rule.reference, answer, body);
    } else if (matched == nullptr || !matched->object) {
        const bool location = !first_line_of(answer, "location").empty();
        if (!duplicate || location || !looks_like_error(body)) out.provider_ref = reference_by_custom(answer, body);
    }
    out.names_object = !out.provider_ref.empty();
    if (matched == nullptr || !matched->object) return;
    const auto object = body.at(*matched->object);
    if (!object || !object->is(JsonKind::object)) return;
    out.names_object = true;
    if (out.provider_ref.empty()) out.provider_ref = text_of_value(object->member("id"));
}

}  // namespace

Classified classify(const Rule& rule, const AnswerView& answer) {
    Classified out;
    AnswerBody body(answer);
    const VerdictRule* matched = nullptr;
    bool set_was_written = false;
    bool cannot_tell = false;
    for (const VerdictRule& candidate : rule.verdicts) {
        if (!head_holds(candidate.answer, answer)) continue;
        if (!candidate.answer.body.empty()) {
            const bool meant = candidate.answer.statuses || is_success(answer.status);
            set_was_written = set_was_written || (meant && is_outcome(candidate.verdict));
            cannot_tell = !answer.body_available;
            if (cannot_tell) break;
            if (!body_holds(candidate.answer, body)) continue;
        }
        if (candidate.verdict == Verdict::replayed) {
            out.provider_replayed = true;
            continue;
        }
        matched = &candidate;
        break;
    }
    if (matched != nullptr) {
        out.verdict = matched->verdict;
    } else if (!set_was_written && !cannot_tell) {
        out.verdict = verdict_without_rule(rule, answer, body);
    }
    out.frozen = rule.key.present() && (rule.key.stores.contains(answer.status) || out.provider_replayed);
    out.key_proven = rule.key.proof && answer.body_available && head_holds(*rule.key.proof, answer) &&
                     body_holds(*rule.key.proof, body);
    find_object(rule, matched, answer, body, out);
    return out;
}

}  // namespace opid
