#pragma once
// Certificates and keys as PEM text (RFC 7468).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/tls/certificate_authority.hpp"

namespace opid {

CertificatePtr certificate_from_pem(std::string_view text);  // the first one; null: there is none
// All of them, in order; what isn't a certificate or can't be read as one is left out.
std::vector<CertificatePtr> certificates_from_pem(std::string_view text);
std::string to_pem(const CertificatePtr& certificate);

PrivateKeyPtr key_from_pem(std::string_view text);            // null: none, or one behind a passphrase
std::optional<std::string> to_pem(const PrivateKeyPtr& key);  // PKCS #8, not encrypted
void wipe(std::string& secret);

}  // namespace opid
