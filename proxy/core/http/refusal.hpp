#pragma once
// Why a message is not accepted. All texts are literals: a refusal costs no allocation and never repeats bytes
// of the message, so it can't leak a credential into an answer or a log.
#include <cstdint>
#include <string_view>

namespace opid::http {

struct Refusal {
    std::uint16_t status = 400;             // status of the answer to the client
    std::string_view slug = "bad-request";  // last part of urn:opid:problem:<slug>
    std::string_view detail;                // plain words for a person
    bool close = true;  // false: the framing was sound, so the connection may serve further requests
};

namespace slug {
inline constexpr std::string_view bad_request = "bad-request";                // 400
inline constexpr std::string_view body_too_large = "body-too-large";          // 413
inline constexpr std::string_view target_too_long = "target-too-long";        // 414
inline constexpr std::string_view expectation_failed = "expectation-failed";  // 417
inline constexpr std::string_view head_too_large = "head-too-large";          // 431
inline constexpr std::string_view not_implemented = "not-implemented";        // 501
inline constexpr std::string_view upstream_invalid = "upstream-invalid";      // 502
inline constexpr std::string_view version = "version";                        // 505
}  // namespace slug

}  // namespace opid::http
