#include "surfaces/cli/doctor_probes.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <sstream>

namespace opid {
namespace {

namespace json = boost::json;

// What stacks say when they looked the name up themselves.
constexpr std::array ignoring{"could not resolve host: doctor",
                              "unable to resolve host",
                              "name or service not known",
                              "temporary failure in name resolution",
                              "nodename nor servname",
                              "no address associated",
                              "getaddrinfo",
                              "enotfound",
                              "eai_again",
                              "no such host",
                              "unknownhostexception",
                              "unresolvedaddressexception",
                              "cannot connect to host doctor.opid.invalid",
                              "no route to host",
                              "network is unreachable"};
constexpr std::array untrusting{"certificate", "cert_", "unable_to_", "self_signed", "self signed",
                                "x509",        "pkix",  "unknown ca", "unknown_ca"};
constexpr std::array refusing{"407", "proxy authentication required", "tenant-unauthenticated"};

template <std::size_t Size>
bool has_any(const std::string& text, const std::array<const char*, Size>& words) {
    for (const char* word : words) {
        if (text.find(word) != std::string::npos) return true;
    }
    return false;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return out;
}

// The first line that isn't the JVM's about its options.
std::string said(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        constexpr std::size_t shown_max = 300;
        if (!line.empty() && !line.starts_with("Picked up ")) return line.substr(0, shown_max);
    }
    return {};
}

// The nonce is chance: it may read like a status.
std::string without(std::string text, const std::string& part) {
    for (auto at = text.find(part); at != std::string::npos && !part.empty(); at = text.find(part)) {
        text.erase(at, part.size());
    }
    return text;
}

bool names(const json::object& object, std::string_view member, std::string_view wanted) {
    const json::value* value = object.if_contains(member);
    return value != nullptr && value->is_string() && std::string_view(value->as_string()) == wanted;
}

}  // namespace

std::string_view to_word(ProbeResult result) {
    constexpr std::array<std::string_view, 7> words{
        "seen",
        "absent",
        "not seen: ignores the proxy variables",
        "not trusted: refuses opid's CA",
        "refused: the proxy wants a tenant",
        "not seen: no answer in time",
        "failed",
    };
    return words[static_cast<std::size_t>(result)];
}

std::string probe_url(const ProbeRequest& request) {
    return fmt::format("https://{}/echo/{}", doctor_host, request.nonce);
}

std::string probe_operation_id(const ProbeRequest& request, std::string_view stack) {
    return fmt::format("doctor-{}-{}", request.nonce, stack);
}

bool node_heeds_environment(std::string_view version, bool fetch) {
    if (version.starts_with('v')) version.remove_prefix(1);
    int numbers[2] = {0, 0};
    const char* at = version.data();
    const char* end = at + version.size();
    for (int& number : numbers) {
        const auto read = std::from_chars(at, end, number);
        if (read.ec != std::errc()) break;
        at = read.ptr;
        if (at == end || *at != '.') break;
        ++at;
    }
    const auto [major, minor] = numbers;
    if (major == 22) return minor >= 21;
    if (major == 24) return fetch || minor >= 5;
    return major > 24;
}

ProbeVerdict judge(const Captured& captured, const std::string& nonce, const std::string& operation_id) {
    ProbeVerdict verdict;
    if (captured.failure != 0 || captured.exit_code == probe_absent_code) {
        verdict.result = ProbeResult::absent;
        return verdict;
    }
    boost::system::error_code error;
    const json::value answer = json::parse(captured.out, error);
    if (!error && answer.is_object()) {
        const json::object& object = answer.as_object();
        if (names(object, "opid", "seen") && names(object, "nonce", nonce)) {
            const bool whole = names(object, "operation_id", operation_id);
            verdict.result = whole ? ProbeResult::seen : ProbeResult::failed;
            if (!whole) verdict.detail = "the request was seen, but without its operation ID";
            return verdict;
        }
    }
    verdict.detail = said(captured.err);
    if (verdict.detail.empty()) verdict.detail = said(captured.out);
    const std::string text = lower(without(captured.err + "\n" + captured.out, nonce));
    if (!captured.in_time) {
        verdict.result = ProbeResult::late;
    } else if (has_any(text, refusing)) {
        verdict.result = ProbeResult::refused;
    } else if (has_any(text, untrusting)) {
        verdict.result = ProbeResult::untrusted;
    } else if (has_any(text, ignoring)) {
        verdict.result = ProbeResult::ignores;
    }
    return verdict;
}

}  // namespace opid
