#pragma once
// What comes in and what goes out, without sockets.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace opid {

struct AdminRequest {
    std::string method;
    std::string target;  // raw: path and query
    std::string host;
    std::string origin;
    std::string authorization;
    std::string last_event_id;
    std::string body;
};

struct AdminReply {
    int status = 200;
    std::string media_type = "application/json";
    std::string body;
    std::vector<std::pair<std::string, std::string>> fields;
    std::optional<std::uint64_t> events_after;  // an event stream from behind this number follows the head
};

AdminReply json_reply(std::string body, int status = 200);

// RFC 9457, in the shape of all problems of opid. `slug` and `title` are ours; further members are raw JSON.
AdminReply problem_reply(int status, std::string_view slug, std::string_view title, std::string_view detail,
                         const std::vector<std::pair<std::string, std::string>>& members = {});

// The answer to a store's or the engine's error.
AdminReply error_reply(const Error& error);

std::string json_text(std::string_view text);  // as a JSON string; bytes that are no UTF-8 become U+FFFD

}  // namespace opid
