#pragma once
// Short ways to parse a sample and to say what came of it.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/request_head.hpp"
#include "core/http/response_head.hpp"

namespace opid::http {

struct ParsedRequest {
    std::string bytes;
    RequestHead head;
    HeadParse parse;
};

// The views of the head stay good: the bytes live on the heap beside it.
inline std::unique_ptr<ParsedRequest> request(std::string bytes, const HeadLimits& limits = {}) {
    auto parsed = std::make_unique<ParsedRequest>();
    parsed->bytes = std::move(bytes);
    parsed->parse = parse_request_head(parsed->bytes, limits, parsed->head);
    return parsed;
}

struct ParsedResponse {
    std::string bytes;
    ResponseHead head;
    HeadParse parse;
};

inline std::unique_ptr<ParsedResponse> response(std::string bytes, std::string_view method = "GET",
                                                const HeadLimits& limits = {}) {
    auto parsed = std::make_unique<ParsedResponse>();
    parsed->bytes = std::move(bytes);
    parsed->parse = parse_response_head(parsed->bytes, limits, method, parsed->head);
    return parsed;
}

// `ok none`, `ok length 5`, `more`, `400 close`, `417 open` …
inline std::string outcome(const HeadParse& parse, const Framing& framing) {
    if (parse.outcome == ParseOutcome::need_more) return "more";
    if (parse.outcome == ParseOutcome::refused) {
        return std::to_string(parse.refusal.status) + (parse.refusal.close ? " close" : " open");
    }
    switch (framing.kind) {
        case BodyKind::none: return "ok none";
        case BodyKind::length: return "ok length " + std::to_string(framing.length);
        case BodyKind::chunked: return "ok chunked";
        case BodyKind::until_close: return "ok until_close";
    }
    return "";
}

}  // namespace opid::http
