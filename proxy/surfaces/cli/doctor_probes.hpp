#pragma once
// What `opid doctor` tries: one small program for each HTTP stack, and how its end is read. Each sends one POST with an
// operation ID to a reserved name that no DNS resolves and that the proxy itself answers.
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "surfaces/cli/child_process.hpp"

namespace opid {

inline constexpr std::string_view doctor_host = "doctor.opid.invalid";
inline constexpr int probe_absent_code = 77;  // the program is there, the library isn't

struct Probe {
    std::string stack;                 // "python-requests"; also in the operation ID
    std::vector<std::string> command;  // [0] has to be in PATH
    std::string needs;                 // another program that has to be there; may be empty
    std::string advice;                // where the variables alone don't do
    Millis time_limit{20'000};
};

struct ProbeRequest {
    std::string nonce;
    std::string folder;  // where the programs of write_probe_programs lie
};
std::string probe_url(const ProbeRequest& request);
std::string probe_operation_id(const ProbeRequest& request, std::string_view stack);

std::vector<Probe> probes(const ProbeRequest& request);
// Sources that have to lie in a file: name and text.
std::vector<std::pair<std::string, std::string>> probe_programs();

// The variable that leads Node exists since 22.21 (there for fetch and https), for https since 24.5, for fetch 24.0.
// version: as `node --version` prints it.
bool node_heeds_environment(std::string_view version, bool fetch);

enum class ProbeResult {
    seen,
    absent,     // not on this machine
    ignores,    // looked the name up by itself: went past the proxy
    untrusted,  // came through the proxy, but doesn't trust its CA
    refused,    // the proxy wants to know the tenant
    late,
    failed,
};
std::string_view to_word(ProbeResult result);

struct ProbeVerdict {
    ProbeResult result = ProbeResult::failed;
    std::string detail;  // a line of what the program said
};
// operation_id: that the answer has to name, beside the nonce.
ProbeVerdict judge(const Captured& captured, const std::string& nonce, const std::string& operation_id);

}  // namespace opid
