#include "surfaces/cli/client_environment.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "core/identity/form_fields.hpp"

namespace opid {
namespace {

constexpr std::string_view no_proxy = "localhost,127.0.0.1,::1";
constexpr std::string_view wgetrc_mark = "# Made by opid from: ";

// Clients that add the file to their own roots.
constexpr std::array appending{"NODE_EXTRA_CA_CERTS", "DENO_CERT"};
// Clients that put it in the place of their roots. SSL_CERT_FILE is OpenSSL's (Python, Ruby), Go's, uv's, .NET's.
constexpr std::array replacing{"SSL_CERT_FILE",      "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",   "AWS_CA_BUNDLE",
                               "GIT_SSL_CAINFO",     "PIP_CERT",           "TWILIO_CA_BUNDLE", "CARGO_HTTP_CAINFO",
                               "BUNDLE_SSL_CA_CERT", "npm_config_cafile"};

// The JVM splits the variable at blanks; either quote keeps them together, and nothing escapes a quote.
std::string java_quoted(const std::string& text) {
    if (text.find_first_of(" \t'\"") == std::string::npos) return text;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const char other = text[at] == '"' ? '\'' : '"';
        const std::size_t end = std::min(text.find(other, at), text.size());
        out += other + text.substr(at, end - at) + other;
        at = end;
    }
    return out;
}

std::string java_options(const ClientFacts& facts) {
    const std::size_t colon = facts.proxy.rfind(':');
    std::string host = facts.proxy.substr(0, colon);
    if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
    const std::string port = facts.proxy.substr(colon + 1);
    const std::string ours = fmt::format(
        "-Dhttp.proxyHost={0} -Dhttp.proxyPort={1} -Dhttps.proxyHost={0} -Dhttps.proxyPort={1} "
        "-Dhttp.nonProxyHosts=localhost|127.*|[::1] -Djavax.net.ssl.trustStore={2} "
        "-Djavax.net.ssl.trustStoreType=PKCS12 -Djavax.net.ssl.trustStorePassword={3}",
        host, port, java_quoted(facts.trust.truststore), facts.trust.truststore_password);
    const std::string before = facts.caller("JAVA_TOOL_OPTIONS");
    if (before.empty() || before == ours) return ours;
    return before.ends_with(" " + ours) ? before : before + " " + ours;
}

}  // namespace

std::string proxy_url(const std::string& proxy, const std::string& tenant, const Secret& token) {
    if (tenant.empty()) return "http://" + proxy;
    return fmt::format("http://{}:{}@{}", percent_encoded(tenant), percent_encoded(token.reveal()), proxy);
}

ClientEnvironment client_environment(const ClientFacts& facts) {
    ClientEnvironment out;
    const std::string system_roots = facts.caller("SSL_CERT_FILE");  // these are in the bundle already
    const auto set = [&out](const char* name, std::string value) {
        out.variables.emplace_back(name, std::move(value));
    };
    const auto set_file = [&](const char* name, const std::string& file) {
        const std::string before = facts.caller(name);
        if (!before.empty() && before != file && before != system_roots) {
            out.notes.push_back(fmt::format(
                "{} was {} and is replaced; should clients need what is in there, name that file in SSL_CERT_FILE, "
                "whose roots opid takes over",
                name, before));
        }
        set(name, file);
    };
    const std::string url = proxy_url(facts.proxy, facts.tenant, facts.token);
    for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"}) set(name, url);
    for (const char* name : {"no_proxy", "NO_PROXY"}) set(name, std::string(no_proxy));
    set("NODE_USE_ENV_PROXY", "1");
    for (const char* name : appending) set_file(name, facts.trust.ca);
    for (const char* name : replacing) set_file(name, facts.trust.bundle);
    set("WGETRC", facts.trust.wgetrc);
    set("JAVA_TOOL_OPTIONS", java_options(facts));
    if (!facts.tenant.empty()) {
        out.notes.push_back(
            "Java takes no proxy credentials from its properties: a Java program has to set an Authenticator (and "
            "-Djdk.http.auth.tunneling.disabledSchemes=), or call the proxy as its base URL");
    }
    return out;
}

std::string wgetrc_text(const std::string& own_path, const std::string& own, const std::string& bundle) {
    std::string text = fmt::format("{}{}\n{}", wgetrc_mark, own_path, own);
    if (!own.empty() && own.back() != '\n') text += '\n';
    return text + fmt::format("ca_certificate = {}\n", bundle);
}

std::string wgetrc_origin(const std::string& text) {
    if (!text.starts_with(wgetrc_mark)) return {};
    const std::size_t end = std::min(text.find('\n'), text.size());
    return text.substr(wgetrc_mark.size(), end - wgetrc_mark.size());
}

}  // namespace opid
