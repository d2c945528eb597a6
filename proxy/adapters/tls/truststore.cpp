#include "adapters/tls/truststore.hpp"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pkcs12.h>

#include <utility>

#include "adapters/tls/owned.hpp"

namespace opid {
namespace {

// Java lists a certificate without a key only if it carries this attribute with the usages that it is trusted for.
constexpr const char* trusted_key_usage = "2.16.840.1.113894.746875.1.1";
// The integrity check hangs on a password that everybody knows; it is there because Java wants one. SHA-1, for that
// is what every Java reads; SHA-256 came with 8u301 and 11.0.12.
constexpr int mac_iterations = 2048;

void free_bags(STACK_OF(PKCS12_SAFEBAG) * bags) { sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free); }
void free_safes(STACK_OF(PKCS7) * safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }
using Bags = Owned<STACK_OF(PKCS12_SAFEBAG), free_bags>;

bool add_bag(STACK_OF(PKCS12_SAFEBAG) * bags, const TrustedCertificate& trusted) {
    Owned<PKCS12_SAFEBAG, PKCS12_SAFEBAG_free> bag(PKCS12_SAFEBAG_create_cert(trusted.certificate.get()));
    ASN1_OBJECT* const any_usage = OBJ_nid2obj(NID_anyExtendedKeyUsage);
    if (!bag ||
        PKCS12_add_friendlyname_utf8(bag.get(), trusted.alias.data(), static_cast<int>(trusted.alias.size())) != 1 ||
        PKCS12_add1_attr_by_txt(bag.get(), trusted_key_usage, V_ASN1_OBJECT,
                                reinterpret_cast<const unsigned char*>(any_usage), -1) != 1 ||
        sk_PKCS12_SAFEBAG_push(bags, bag.get()) <= 0) {
        return false;
    }
    static_cast<void>(bag.release());
    return true;
}

Owned<PKCS12, PKCS12_free> pack(STACK_OF(PKCS12_SAFEBAG) * bags) {
    constexpr int not_encrypted = -1;  // certificates are public
    STACK_OF(PKCS7)* made = nullptr;
    const bool packed = PKCS12_add_safe(&made, bags, not_encrypted, 0, nullptr) == 1;
    const Owned<STACK_OF(PKCS7), free_safes> safes(made);
    return Owned<PKCS12, PKCS12_free>(packed ? PKCS12_add_safes(safes.get(), 0) : nullptr);
}

}  // namespace

Result<std::string> make_truststore(const std::vector<TrustedCertificate>& trusted, const std::string& password) {
    const Bags bags(sk_PKCS12_SAFEBAG_new_null());
    bool fine = bags != nullptr;
    for (const TrustedCertificate& one : trusted) fine = fine && add_bag(bags.get(), one);
    const Owned<PKCS12, PKCS12_free> store = fine ? pack(bags.get()) : nullptr;
    const Owned<BIO, BIO_free_all> bio(BIO_new(BIO_s_mem()));
    if (!store || !bio ||
        PKCS12_set_mac(store.get(), password.data(), static_cast<int>(password.size()), nullptr, 0, mac_iterations,
                       EVP_sha1()) != 1 ||
        i2d_PKCS12_bio(bio.get(), store.get()) != 1) {
        ERR_clear_error();
        return Error(ErrorKind::internal, "the trust store for Java can't be made");
    }
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace opid
