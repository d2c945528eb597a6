// Request and response heads under arbitrary bytes: no crash, the same verdict however the bytes are split, and a
// forwarded head that parses back to the same framing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/http/authority.hpp"
#include "core/http/hop_by_hop.hpp"
#include "core/http/request_head.hpp"
#include "core/http/response_head.hpp"

using namespace opid::http;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

bool same(const HeadParse& a, const HeadParse& b) {
    return a.outcome == b.outcome && a.consumed == b.consumed && a.refusal.status == b.refusal.status &&
           a.refusal.detail == b.refusal.detail && a.refusal.close == b.refusal.close;
}

// Small bounds, so that short inputs reach them.
HeadLimits limits() {
    HeadLimits small;
    small.head_bytes = 512;
    small.fields = 16;
    small.target_bytes = 64;
    return small;
}

template <class Parse>
void check_splits(std::string_view bytes, const HeadParse& whole, Parse parse) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{64}}) {
        HeadProgress progress;
        HeadParse split;
        for (std::size_t size = step; split.outcome == ParseOutcome::need_more; size += step) {
            // A copy of each prefix: nothing may be kept from the buffer of the call before.
            const std::string prefix(bytes.substr(0, size));
            split = parse(prefix, progress);
            if (size >= bytes.size()) break;
        }
        if (split.outcome == ParseOutcome::need_more && whole.outcome == ParseOutcome::refused) {
            // A fault may be noticed later in a growing buffer, but no later than its line ends.
            split = parse(std::string(bytes) + "\n", progress);
        }
        require(same(whole, split));
    }
}

void check_request(std::string_view bytes) {
    RequestHead head;
    const HeadParse whole = parse_request_head(bytes, limits(), head);
    check_splits(bytes, whole, [](std::string_view prefix, HeadProgress& progress) {
        RequestHead other;
        return parse_request_head(prefix, limits(), other, progress);
    });
    if (whole.outcome != ParseOutcome::complete) return;
    require(whole.consumed <= bytes.size());
    if (!head.authority.empty()) (void)parse_authority(head.authority, 80);
    std::string out;
    RequestForwarding options;
    if (head.authority.empty()) options.host = "fallback";
    write_request_head(head, options, out);
    RequestHead again;
    const HeadParse second = parse_request_head(out, {}, again);
    require(second.outcome == ParseOutcome::complete);
    require(second.consumed == out.size());
    require(again.framing == head.framing);
    require(again.method == head.method);
    for (const Field& field : again.fields) require(!is_operation_field(field.name));
}

void check_response(std::string_view bytes, std::string_view method) {
    ResponseHead head;
    const HeadParse whole = parse_response_head(bytes, limits(), method, head);
    check_splits(bytes, whole, [method](std::string_view prefix, HeadProgress& progress) {
        ResponseHead other;
        return parse_response_head(prefix, limits(), method, other, progress);
    });
    if (whole.outcome != ParseOutcome::complete) return;
    for (const std::uint8_t minor : {std::uint8_t{0}, std::uint8_t{1}}) {
        ResponseForwarding options;
        options.framing = client_framing(head, minor);
        options.client_minor = minor;
        std::string out;
        write_response_head(head, options, out);
        ResponseHead again;
        const HeadParse second = parse_response_head(out, {}, method, again);
        require(second.outcome == ParseOutcome::complete);
        require(second.consumed == out.size());
        require(again.framing == options.framing);
        require(again.status == head.status);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check_request(bytes);
    check_response(bytes, "GET");
    check_response(bytes, "HEAD");
    return 0;
}
