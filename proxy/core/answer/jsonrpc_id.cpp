#include "core/answer/jsonrpc_id.hpp"

#include <optional>
#include <vector>

#include "core/identity/canonical_form.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {
namespace {

bool is_jsonrpc(JsonValue root) {
    const std::optional<JsonValue> version = root.member("jsonrpc");
    return version && version->is(JsonKind::string) && version->string() == "2.0";
}

std::optional<std::string> splice_response_id(std::string_view text, std::string_view id) {
    const Result<JsonDocument> document = read_json(text);
    if (!document || document->duplicate_at()) return std::nullopt;
    const JsonValue root = document->root();
    const std::optional<JsonValue> own = root.member("id");
    const bool response = root.member("result") || root.member("error");
    if (!own || !response || !is_jsonrpc(root)) return std::nullopt;
    std::string spliced(text.substr(0, own->begin()));
    spliced += id;
    spliced += text.substr(own->end());
    return spliced;
}

std::string_view take_line(std::string_view& rest, std::string_view& ending) {
    const auto end = rest.find_first_of("\r\n");
    if (end == std::string_view::npos) {
        const std::string_view line = rest;
        ending = {};
        rest = {};
        return line;
    }
    const std::string_view line = rest.substr(0, end);
    const std::size_t width = rest.substr(end).starts_with("\r\n") ? 2 : 1;
    ending = rest.substr(end, width);
    rest.remove_prefix(end + width);
    return line;
}

struct EventLine {
    std::string_view text;
    std::string_view ending;
};

std::optional<std::string_view> data_of(std::string_view line) {
    if (!line.starts_with("data:")) return std::nullopt;
    line.remove_prefix(5);
    if (line.starts_with(' ')) line.remove_prefix(1);
    return line;
}

// One event of a stream (WHATWG HTML section 9.2.6): its data lines together are one text.
void append_event(const std::vector<EventLine>& lines, std::string_view id, std::string& out) {
    std::string data;
    std::string_view ending = "\n";
    bool has_data = false;
    for (const EventLine& line : lines) {
        if (const auto part = data_of(line.text)) {
            if (has_data) data += '\n';
            data += *part;
            has_data = true;
            if (!line.ending.empty()) ending = line.ending;
        }
    }
    const auto spliced = has_data ? splice_response_id(data, id) : std::nullopt;
    bool written = false;
    for (const EventLine& line : lines) {
        if (!spliced || !data_of(line.text)) {
            out += line.text;
            out += line.ending;
        } else if (!written) {
            written = true;
            std::string_view rest = *spliced;
            std::string_view inner;
            while (!rest.empty()) {
                out += "data: ";
                out += take_line(rest, inner);
                out += ending;
            }
        }
    }
}

std::string event_stream_with_id(std::string_view body, std::string_view id) {
    std::string out;
    out.reserve(body.size() + id.size());
    std::vector<EventLine> lines;
    while (!body.empty()) {
        EventLine line;
        line.text = take_line(body, line.ending);
        lines.push_back(line);
        if (line.text.empty() || body.empty()) {
            append_event(lines, id, out);
            lines.clear();
        }
    }
    return out;
}

}  // namespace

std::string read_jsonrpc_id(std::string_view request_body) {
    // Most writes are no JSON-RPC, and a name is spelled out or has a backslash in it.
    const bool possible = request_body.find("\"jsonrpc\"") != std::string_view::npos ||
                          request_body.find('\\') != std::string_view::npos;
    if (!possible) return {};
    const Result<JsonDocument> document = read_json(request_body);
    if (!document || document->duplicate_at()) return {};
    const JsonValue root = document->root();
    const std::optional<JsonValue> id = root.member("id");
    if (!id || !is_jsonrpc(root)) return {};
    return std::string(id->raw());
}

std::string with_jsonrpc_id(std::string_view media_type, std::string_view body, std::string_view id) {
    const std::string essence = media_essence(media_type);
    if (essence == "text/event-stream") return event_stream_with_id(body, id);
    if (!is_json_media_type(essence)) return std::string(body);
    return splice_response_id(body, id).value_or(std::string(body));
}

}  // namespace opid
