#pragma once
// The shape of the certificates that opid signs: X.509 version 3 as strict verifiers want it (RFC 5280 section 4).
#include <string>

#include "adapters/tls/certificate_authority.hpp"

namespace opid {

// Self-signed CA: critical, none below it; may sign certificates and CRLs, critical; subject key identifier; ten years.
Result<CertificatePtr> make_root_certificate(const PrivateKeyPtr& key, Instant now);

// For TLS servers under the one name `host`, with the issuer's stored subject key identifier as authority's. Never
// valid beyond the issuer.
Result<Leaf> make_leaf_certificate(const CertificatePtr& issuer, const PrivateKeyPtr& issuer_key,
                                   const std::string& host, bool is_ip, const PrivateKeyPtr& key, Instant now);

struct Validity {
    Instant not_before{};
    Instant not_after{};
};
Validity validity_of(const CertificatePtr& certificate);
std::string fingerprint_of(const CertificatePtr& certificate);  // SHA-256, upper-case hex with colons
std::string subject_of(const CertificatePtr& certificate);      // RFC 4514

}  // namespace opid
