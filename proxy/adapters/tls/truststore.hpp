#pragma once
// A PKCS #12 file (RFC 7292) that Java takes for a trust store: certificates that are marked as trusted, no keys.
#include <string>
#include <vector>

#include "adapters/tls/certificate_authority.hpp"

namespace opid {

struct TrustedCertificate {
    std::string alias;  // Java's; of two that are equal but for case it keeps one
    CertificatePtr certificate;
};

// The bytes differ from call to call (a random salt).
Result<std::string> make_truststore(const std::vector<TrustedCertificate>& trusted, const std::string& password);

}  // namespace opid
