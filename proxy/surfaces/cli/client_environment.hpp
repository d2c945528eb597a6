#pragma once
// The variables that lead a client through the proxy: what they are, not where they go. Values in, values out.
#include <functional>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "surfaces/cli/child_process.hpp"

namespace opid {

struct TrustPaths {          // absolute
    std::string ca;          // our CA alone, for clients that add it to their roots
    std::string bundle;      // the system's roots and ours, for clients whose setting replaces the roots
    std::string truststore;  // the same as PKCS #12, for Java
    std::string truststore_password;
    std::string wgetrc;
};

struct ClientFacts {
    std::string proxy;   // "127.0.0.1:8080"
    std::string tenant;  // empty: without credentials
    Secret token;
    TrustPaths trust;
    std::function<std::string(const std::string& name)> caller;  // its variables so far; empty: not set
};

struct ClientEnvironment {
    Variables variables;
    std::vector<std::string> notes;  // for people: what these variables can't do, or what they took the place of
};

// ALL_PROXY is not among them: it would also lead what is not HTTP to a proxy that can't carry it.
ClientEnvironment client_environment(const ClientFacts& facts);

// "http://127.0.0.1:8080", with the tenant's credentials where there are some.
std::string proxy_url(const std::string& proxy, const std::string& tenant, const Secret& token);

// wget's build on Debian reads no CA variable, and WGETRC takes the place of the user's own file: so ours repeats
// `own`, the text of the file at `own_path` (both may be empty), and then names the bundle.
std::string wgetrc_text(const std::string& own_path, const std::string& own, const std::string& bundle);
// The own_path that a text made by wgetrc_text names.
std::string wgetrc_origin(const std::string& text);

}  // namespace opid
