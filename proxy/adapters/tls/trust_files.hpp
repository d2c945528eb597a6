#pragma once
// What clients need to trust opid's CA, as files beside it: clients that add roots take ca.pem, clients whose setting
// replaces the roots take bundle.pem (the system's roots and ours), Java takes truststore.p12 (the same as PKCS #12).
#include <string>

#include "adapters/tls/certificate_authority.hpp"

namespace opid {

inline constexpr const char* truststore_password = "changeit";  // Java's own default; the file holds no secret

struct TrustFiles {
    std::string ca;          // <folder>/ca.pem
    std::string bundle;      // <folder>/bundle.pem
    std::string truststore;  // <folder>/truststore.p12
};
TrustFiles trust_files(const std::string& folder);

// Where the system keeps its roots as one PEM file: $SSL_CERT_FILE unless that is `not_this`, Debian's place, others'
// places, OpenSSL's default. not_found: none of them is there.
Result<std::string> system_roots(const std::string& not_this);

// Writes bundle and truststore anew where their content would differ. Error names the file.
Status write_trust_files(const std::string& folder, const CertificateAuthority& authority);

}  // namespace opid
