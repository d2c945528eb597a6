#include "surfaces/cli/client_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "surfaces/cli/cli_output.hpp"

namespace opid {
namespace {

constexpr std::size_t small_file_bytes_max = 64 * 1024;

std::optional<std::string> small_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text(small_file_bytes_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > small_file_bytes_max) return std::nullopt;
    return text;
}

Result<std::string> token_text(const std::string& reference) {
    if (reference.starts_with("env:")) {
        std::string value = environment_variable(reference.substr(4));
        if (!value.empty()) return value;
        return Error(ErrorKind::invalid, fmt::format("the environment variable {} has no token (--tenant-token names "
                                                     "another: env:NAME or file:PATH)",
                                                     reference.substr(4)));
    }
    if (!reference.starts_with("file:")) return Error(ErrorKind::invalid, "--tenant-token is env:NAME or file:PATH");
    std::optional<std::string> value = small_file(reference.substr(5));
    while (value && !value->empty() && (value->back() == '\n' || value->back() == '\r')) value->pop_back();
    if (value && !value->empty()) return std::move(*value);
    return Error(ErrorKind::invalid, fmt::format("the file {} has no token", reference.substr(5)));
}

// The wgetrc that wget would read without us. Where WGETRC names ours already, ours knows.
std::string own_wgetrc(const std::string& ours) {
    std::string path = environment_variable("WGETRC");
    if (path == ours) path = wgetrc_origin(small_file(ours).value_or(""));
    if (path.empty() && !environment_variable("HOME").empty()) path = environment_variable("HOME") + "/.wgetrc";
    return path.find('\n') == std::string::npos ? path : std::string();
}

}  // namespace

Result<ClientTenant> client_tenant(const ClientOptions& options, const CliSettings& found) {
    ClientTenant tenant;
    if (options.tenant.empty()) {
        if (options.tenant_token.empty()) return tenant;
        return Error(ErrorKind::invalid, "--tenant-token needs --tenant");
    }
    const auto& known = found.tenants;
    if (std::find(known.begin(), known.end(), options.tenant) == known.end()) {
        std::string names;
        for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
        return Error(ErrorKind::invalid, fmt::format("the configuration has no tenant {} (it has {})", options.tenant,
                                                     names.empty() ? "none" : names));
    }
    Result<std::string> token = token_text(options.tenant_token.empty() ? "env:OPID_TENANT_TOKEN"
                                                                        : options.tenant_token);
    if (!token) return token.error();
    tenant.name = options.tenant;
    tenant.token = Secret(std::move(*token));
    return tenant;
}

Result<CliTrust> client_trust(CliHost& host, const CliSettings& found) {
    Result<CliTrust> trust = host.trust(found.data, false);
    const std::string roots = environment_variable("SSL_CERT_FILE");
    if (!trust || roots.empty() || roots == trust->bundle) return trust;
    return host.trust(found.data, true);  // the caller has roots of its own
}

Result<ClientEnvironment> client_setup(CliHost& host, const CliTrust& trust, const ClientTenant& tenant,
                                       const std::string& proxy) {
    ClientFacts facts;
    facts.proxy = proxy;
    facts.tenant = tenant.name;
    facts.token = tenant.token;
    facts.trust = {trust.ca, trust.bundle, trust.truststore, trust.truststore_password, trust.folder + "/wgetrc"};
    facts.caller = environment_variable;
    const std::string own_path = own_wgetrc(facts.trust.wgetrc);
    const std::string own = small_file(own_path).value_or("");
    const std::string text = wgetrc_text(own_path, own, facts.trust.bundle);
    if (small_file(facts.trust.wgetrc) != text) {
        const Status written = host.replace_file(facts.trust.wgetrc, text);
        if (!written) return written.error();
    }
    return client_environment(facts);
}

bool settings_usable(const CliSettings& found, const ClientOptions& options, std::ostream& err) {
    for (const CliProblem& problem : found.problems) err << printable(problem.shown) << "\n";
    if (!found.problems.empty()) return false;
    if (!found.tenants.empty() && options.tenant.empty()) {
        err << "opid: note: tenants are configured, and the proxy refuses callers without one: see --tenant\n";
    }
    return true;
}

}  // namespace opid
