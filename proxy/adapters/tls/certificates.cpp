#include "adapters/tls/certificates.hpp"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <initializer_list>

#include "adapters/system/system_entropy.hpp"
#include "adapters/tls/owned.hpp"
#include "base/encoding.hpp"
#include "core/http/ip_address.hpp"

namespace opid {
namespace {

using std::chrono::hours;

constexpr auto root_backdated = hours(24);
constexpr auto root_lifetime = hours(24 * 3652);
// Clients' clocks are wrong by hours rather than by minutes; well below the 90 days that strict clients grant.
constexpr auto leaf_backdated = hours(2);
constexpr auto leaf_lifetime = hours(24 * 30);  // with the backdating
constexpr auto leaf_renewed_before = hours(24 * 7);
constexpr auto leaf_renewed_before_at_least = hours(1);
constexpr auto clock_tolerance = hours(1);
constexpr std::size_t common_name_bytes_max = 63;
constexpr std::size_t serial_bytes = 16;
constexpr std::size_t key_id_bytes = 20;
constexpr int digital_signature = 0, key_cert_sign = 5, crl_sign = 6;  // bits, RFC 5280 section 4.2.1.3

Error trouble(const char* what) {
    const unsigned long code = ERR_peek_error();
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    ERR_clear_error();
    return {ErrorKind::internal, fmt::format("{} can't be made: {}", what, reason == nullptr ? "no memory" : reason)};
}

bool set_time(ASN1_TIME* field, Instant at) {
    return ASN1_TIME_set(field, static_cast<std::time_t>(
                                    std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count())) !=
           nullptr;
}

Instant instant_of(const ASN1_TIME* field) {
    std::tm parts{};
    if (field == nullptr || ASN1_TIME_to_tm(field, &parts) != 1) return {};
    return Instant(std::chrono::seconds(::timegm(&parts)));
}

// Random, positive, 16 octets without a leading zero.
bool set_serial(X509* certificate) {
    std::string bytes = SystemEntropy().bytes(serial_bytes);
    bytes[0] = static_cast<char>((static_cast<unsigned char>(bytes[0]) & 0x3fU) | 0x40U);
    const Owned<BIGNUM, BN_free> number(
        BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), nullptr));
    return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool add_name(X509_NAME* name, int nid, const std::string& text) {
    return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()), -1, 0) == 1;
}

bool add_basic_constraints(X509* certificate, bool ca) {
    const Owned<BASIC_CONSTRAINTS, BASIC_CONSTRAINTS_free> value(BASIC_CONSTRAINTS_new());
    if (!value) return false;
    value->ca = ca ? 0xff : 0;
    if (ca) {
        value->pathlen = ASN1_INTEGER_new();
        if (value->pathlen == nullptr || ASN1_INTEGER_set(value->pathlen, 0) != 1) return false;
    }
    return X509_add1_ext_i2d(certificate, NID_basic_constraints, value.get(), 1, X509V3_ADD_DEFAULT) == 1;
}

bool add_key_usage(X509* certificate, std::initializer_list<int> bits) {
    const Owned<ASN1_BIT_STRING, ASN1_BIT_STRING_free> value(ASN1_BIT_STRING_new());
    if (!value) return false;
    for (const int bit : bits) {
        if (ASN1_BIT_STRING_set_bit(value.get(), bit, 1) != 1) return false;
    }
    return X509_add1_ext_i2d(certificate, NID_key_usage, value.get(), 1, X509V3_ADD_DEFAULT) == 1;
}

// The first 160 bits of SHA-256 over the public key (RFC 7093 section 2).
std::string key_id(const X509* certificate) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (X509_pubkey_digest(certificate, EVP_sha256(), digest.data(), &size) != 1 || size < key_id_bytes) return {};
    return {reinterpret_cast<const char*>(digest.data()), key_id_bytes};
}

bool add_subject_key_id(X509* certificate) {
    const std::string id = key_id(certificate);
    const Owned<ASN1_OCTET_STRING, ASN1_OCTET_STRING_free> value(ASN1_OCTET_STRING_new());
    return !id.empty() && value &&
           ASN1_OCTET_STRING_set(value.get(), reinterpret_cast<const unsigned char*>(id.data()),
                                 static_cast<int>(id.size())) == 1 &&
           X509_add1_ext_i2d(certificate, NID_subject_key_identifier, value.get(), 0, X509V3_ADD_DEFAULT) == 1;
}

// As stored in the issuer: computed anew it need not be the same, and then no chain is found.
bool add_authority_key_id(X509* certificate, X509* issuer) {
    const ASN1_OCTET_STRING* const stored = X509_get0_subject_key_id(issuer);
    const Owned<AUTHORITY_KEYID, AUTHORITY_KEYID_free> value(AUTHORITY_KEYID_new());
    if (stored == nullptr || !value) return false;
    value->keyid = ASN1_OCTET_STRING_dup(stored);
    return value->keyid != nullptr &&
           X509_add1_ext_i2d(certificate, NID_authority_key_identifier, value.get(), 0, X509V3_ADD_DEFAULT) == 1;
}

bool add_server_usage(X509* certificate) {
    const Owned<EXTENDED_KEY_USAGE, EXTENDED_KEY_USAGE_free> value(EXTENDED_KEY_USAGE_new());
    return value && sk_ASN1_OBJECT_push(value.get(), OBJ_nid2obj(NID_server_auth)) > 0 &&
           X509_add1_ext_i2d(certificate, NID_ext_key_usage, value.get(), 0, X509V3_ADD_DEFAULT) == 1;
}

// `bytes`: a name, or an address in network order.
bool add_alternative_name(X509* certificate, int type, std::string_view bytes, bool critical) {
    const Owned<GENERAL_NAMES, GENERAL_NAMES_free> names(GENERAL_NAMES_new());
    Owned<GENERAL_NAME, GENERAL_NAME_free> name(GENERAL_NAME_new());
    Owned<ASN1_STRING, ASN1_STRING_free> text(
        ASN1_STRING_type_new(type == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING));
    if (!names || !name || !text) return false;
    if (ASN1_STRING_set(text.get(), bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
    GENERAL_NAME_set0_value(name.get(), type, text.release());
    if (sk_GENERAL_NAME_push(names.get(), name.get()) <= 0) return false;
    static_cast<void>(name.release());
    return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), critical ? 1 : 0, X509V3_ADD_DEFAULT) == 1;
}

bool begin(X509* certificate, const Validity& validity, EVP_PKEY* key) {
    return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
           set_time(X509_getm_notBefore(certificate), validity.not_before) &&
           set_time(X509_getm_notAfter(certificate), validity.not_after) && X509_set_pubkey(certificate, key) == 1;
}

Validity leaf_validity(const Validity& issuer, Instant now) {
    const Instant start = std::max(Instant(now - leaf_backdated), issuer.not_before);
    return {start, std::min(Instant(start + leaf_lifetime), issuer.not_after)};
}

bool fill_leaf(X509* leaf, X509* issuer, const std::string& host, const std::optional<http::IpAddress>& ip) {
    // A common name has room for 64 characters. A critical alternative name must go with an empty subject, and only
    // then: RFC 5280 section 4.2.1.6.
    const bool named = host.size() <= common_name_bytes_max;
    std::string_view name = host;
    if (ip) name = {reinterpret_cast<const char*>(ip->bytes().data()), ip->is_v4() ? 4U : 16U};
    return X509_set_issuer_name(leaf, X509_get_subject_name(issuer)) == 1 &&
           (!named || add_name(X509_get_subject_name(leaf), NID_commonName, host)) &&
           add_basic_constraints(leaf, false) && add_key_usage(leaf, {digital_signature}) && add_server_usage(leaf) &&
           add_alternative_name(leaf, ip ? GEN_IPADD : GEN_DNS, name, !named) && add_subject_key_id(leaf) &&
           add_authority_key_id(leaf, issuer);
}

}  // namespace

Result<CertificatePtr> make_root_certificate(const PrivateKeyPtr& key, Instant now) {
    const CertificatePtr root(X509_new(), X509_free);
    if (!root) return trouble("the CA certificate");
    const Instant start = now - root_backdated;
    if (!begin(root.get(), {start, start + root_lifetime}, key.get())) return trouble("the CA certificate");
    // The key is in the name: clients that find issuers by name never confuse two of our CAs.
    const std::string id = key_id(root.get());
    X509_NAME* const name = X509_get_subject_name(root.get());
    const bool filled = !id.empty() && add_name(name, NID_organizationName, "opid") &&
                        add_name(name, NID_commonName, "opid CA " + hex(id.substr(0, 4))) &&
                        X509_set_issuer_name(root.get(), name) == 1 && add_basic_constraints(root.get(), true) &&
                        add_key_usage(root.get(), {key_cert_sign, crl_sign}) && add_subject_key_id(root.get());
    if (!filled || X509_sign(root.get(), key.get(), EVP_sha256()) <= 0) return trouble("the CA certificate");
    return root;
}

Result<Leaf> make_leaf_certificate(const CertificatePtr& issuer, const PrivateKeyPtr& issuer_key,
                                   const std::string& host, bool is_ip, const PrivateKeyPtr& key, Instant now) {
    const std::optional<http::IpAddress> ip = is_ip ? http::parse_ip(host) : std::nullopt;
    if (is_ip && !ip) return Error(ErrorKind::invalid, "not an address: " + host);
    const Validity issuer_validity = validity_of(issuer);
    if (now >= issuer_validity.not_after) {
        return Error(ErrorKind::invalid, "opid's CA has expired: make a new one with `opid ca rotate`");
    }
    Leaf leaf;
    leaf.certificate = CertificatePtr(X509_new(), X509_free);
    const Validity validity = leaf_validity(issuer_validity, now);
    if (!leaf.certificate || !begin(leaf.certificate.get(), validity, key.get()) ||
        !fill_leaf(leaf.certificate.get(), issuer.get(), host, ip) ||
        X509_sign(leaf.certificate.get(), issuer_key.get(), EVP_sha256()) <= 0) {
        return trouble("a certificate");
    }
    leaf.usable_from = std::min(now, validity.not_before + clock_tolerance);
    leaf.renew_at = validity.not_after - leaf_renewed_before;
    // Near the CA's own end.
    if (leaf.renew_at <= now) leaf.renew_at = validity.not_after - leaf_renewed_before_at_least;
    return leaf;
}

Validity validity_of(const CertificatePtr& certificate) {
    return {instant_of(X509_get0_notBefore(certificate.get())), instant_of(X509_get0_notAfter(certificate.get()))};
}

std::string fingerprint_of(const CertificatePtr& certificate) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (X509_digest(certificate.get(), EVP_sha256(), digest.data(), &size) != 1) return {};
    std::string out;
    for (unsigned int at = 0; at < size; ++at) out += fmt::format("{}{:02X}", at == 0 ? "" : ":", digest[at]);
    return out;
}

std::string subject_of(const CertificatePtr& certificate) {
    const Owned<BIO, BIO_free_all> bio(BIO_new(BIO_s_mem()));
    if (!bio) return {};
    X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate.get()), 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace opid
