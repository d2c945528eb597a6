// The certificates themselves, field by field.
#include <openssl/x509v3.h>

#include <catch2/catch.hpp>
#include <set>

#include "adapters/tls/certificates.hpp"
#include "adapters/tls/owned.hpp"
#include "base/encoding.hpp"
#include "tls_peer.hpp"

using namespace opid;
using namespace opid::test;

namespace {

std::string text_of(X509_EXTENSION* extension) {
    const Owned<BIO, BIO_free_all> bio(BIO_new(BIO_s_mem()));
    X509V3_EXT_print(bio.get(), extension, 0, 0);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}
// "short name[!]: value" of each extension in order; ! is critical.
std::vector<std::string> extensions_of(const CertificatePtr& certificate) {
    std::vector<std::string> all;
    for (int at = 0; at < X509_get_ext_count(certificate.get()); ++at) {
        X509_EXTENSION* const one = X509_get_ext(certificate.get(), at);
        const int nid = OBJ_obj2nid(X509_EXTENSION_get_object(one));
        all.push_back(std::string(OBJ_nid2sn(nid)) + (X509_EXTENSION_get_critical(one) == 1 ? "!: " : ": ") +
                      text_of(one));
    }
    return all;
}
std::string key_id_of(const ASN1_OCTET_STRING* id) {
    REQUIRE(id != nullptr);
    std::string out;
    for (int at = 0; at < ASN1_STRING_length(id); ++at) {
        const unsigned char byte = ASN1_STRING_get0_data(id)[at];
        const std::string digits = hex(std::string_view(reinterpret_cast<const char*>(&byte), 1));
        for (const char c : (at == 0 ? "" : ":") + digits) out += static_cast<char>(std::toupper(c));
    }
    return out;
}
std::string subject_key_id(const CertificatePtr& certificate) {
    return key_id_of(X509_get0_subject_key_id(certificate.get()));
}
std::string serial_of(const CertificatePtr& certificate) {
    const ASN1_INTEGER* const serial = X509_get0_serialNumber(certificate.get());
    CHECK(ASN1_STRING_type(serial) == V_ASN1_INTEGER);  // not V_ASN1_NEG_INTEGER
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(serial)),
            static_cast<std::size_t>(ASN1_STRING_length(serial))};
}
int signature_of(const CertificatePtr& certificate) { return X509_get_signature_nid(certificate.get()); }
std::string curve_of(const CertificatePtr& certificate) {
    char name[32] = {};
    std::size_t size = 0;
    REQUIRE(EVP_PKEY_get_group_name(X509_get0_pubkey(certificate.get()), name, sizeof name, &size) == 1);
    return name;
}

struct Made {
    Made() : ca_key(*make_p256_key()), leaf_key(*make_p256_key()), root(*make_root_certificate(ca_key, noon)) {}
    Leaf leaf(const std::string& host, bool is_ip = false, Instant now = noon) const {
        auto made = make_leaf_certificate(root, ca_key, host, is_ip, leaf_key, now);
        INFO((made ? "" : made.error().what()));
        REQUIRE(made);
        return *made;
    }
    PrivateKeyPtr ca_key;
    PrivateKeyPtr leaf_key;
    CertificatePtr root;
};

}  // namespace

TEST_CASE("the CA's certificate is what strict clients want") {
    const Made made;
    CHECK(X509_get_version(made.root.get()) == X509_VERSION_3);
    CHECK(signature_of(made.root) == NID_ecdsa_with_SHA256);
    CHECK(curve_of(made.root) == "prime256v1");
    CHECK(X509_verify(made.root.get(), made.ca_key.get()) == 1);
    CHECK(X509_NAME_cmp(X509_get_subject_name(made.root.get()), X509_get_issuer_name(made.root.get())) == 0);
    CHECK(extensions_of(made.root) == std::vector<std::string>{
                                          "basicConstraints!: CA:TRUE, pathlen:0",
                                          "keyUsage!: Certificate Sign, CRL Sign",
                                          "subjectKeyIdentifier: " + subject_key_id(made.root),
                                      });
    CHECK(serial_of(made.root).size() == 16);
}

TEST_CASE("a leaf is what strict clients want") {
    const Made made;
    const std::string name_of_63 = std::string(31, 'a') + "." + std::string(31, 'b');
    const std::string name_of_64 = std::string(32, 'a') + "." + std::string(31, 'b');
    std::string name_of_253 = std::string(61, 'z');
    for (int label = 0; label < 3; ++label) name_of_253 += "." + std::string(63, 'y');
    REQUIRE(name_of_63.size() == 63);
    REQUIRE(name_of_64.size() == 64);
    REQUIRE(name_of_253.size() == 253);
    struct Row {
        std::string host;
        bool is_ip;
        std::string subject;
        std::string name;
    };
    const Row rows[] = {
        {"api.example.com", false, "CN=api.example.com", "subjectAltName: DNS:api.example.com"},
        {"localhost", false, "CN=localhost", "subjectAltName: DNS:localhost"},
        {"under_score.test", false, "CN=under_score.test", "subjectAltName: DNS:under_score.test"},
        {"xn--bcher-kva.test", false, "CN=xn--bcher-kva.test", "subjectAltName: DNS:xn--bcher-kva.test"},
        {name_of_63, false, "CN=" + name_of_63, "subjectAltName: DNS:" + name_of_63},
        {name_of_64, false, "", "subjectAltName!: DNS:" + name_of_64},
        {name_of_253, false, "", "subjectAltName!: DNS:" + name_of_253},
        {"192.0.2.1", true, "CN=192.0.2.1", "subjectAltName: IP Address:192.0.2.1"},
        {"2001:db8::1", true, "CN=2001:db8::1", "subjectAltName: IP Address:2001:DB8:0:0:0:0:0:1"},
    };
    for (const Row& row : rows) {
        INFO(row.host);
        const CertificatePtr leaf = made.leaf(row.host, row.is_ip).certificate;
        CHECK(X509_get_version(leaf.get()) == X509_VERSION_3);
        CHECK(signature_of(leaf) == NID_ecdsa_with_SHA256);
        CHECK(curve_of(leaf) == "prime256v1");
        CHECK(X509_verify(leaf.get(), made.ca_key.get()) == 1);
        CHECK(X509_check_private_key(leaf.get(), made.leaf_key.get()) == 1);
        CHECK(X509_check_private_key(leaf.get(), made.ca_key.get()) == 0);
        CHECK(X509_NAME_cmp(X509_get_issuer_name(leaf.get()), X509_get_subject_name(made.root.get())) == 0);
        CHECK(subject_of(leaf) == row.subject);
        CHECK(extensions_of(leaf) == std::vector<std::string>{
                                         "basicConstraints!: CA:FALSE",
                                         "keyUsage!: Digital Signature",
                                         "extendedKeyUsage: TLS Web Server Authentication",
                                         row.name,
                                         "subjectKeyIdentifier: " + subject_key_id(leaf),
                                         "authorityKeyIdentifier: " + subject_key_id(made.root),
                                     });
        CHECK(subject_key_id(leaf) != subject_key_id(made.root));
    }
}

TEST_CASE("the authority's key identifier is the stored one, whatever its kind") {
    const Made made;
    const CertificatePtr root(X509_dup(made.root.get()), X509_free);
    X509_EXTENSION_free(X509_delete_ext(root.get(), X509_get_ext_by_NID(root.get(), NID_subject_key_identifier, -1)));
    const Owned<ASN1_OCTET_STRING, ASN1_OCTET_STRING_free> id(ASN1_OCTET_STRING_new());
    ASN1_OCTET_STRING_set(id.get(), reinterpret_cast<const unsigned char*>("\x01\x02\x03"), 3);
    X509_add1_ext_i2d(root.get(), NID_subject_key_identifier, id.get(), 0, X509V3_ADD_DEFAULT);
    REQUIRE(X509_sign(root.get(), made.ca_key.get(), EVP_sha256()) > 0);
    const auto leaf = make_leaf_certificate(root, made.ca_key, "a.test", false, made.leaf_key, noon);
    REQUIRE(leaf);
    CHECK(key_id_of(X509_get0_authority_key_id(leaf->certificate.get())) == "01:02:03");
}

TEST_CASE("a leaf's life") {
    const Made made;
    const Instant ca_end = noon - one_day + 3652 * one_day;
    struct Row {
        const char* what;
        Instant now, not_before, not_after, usable_from, renew_at;
    };
    const Row rows[] = {
        {"usual", noon, noon - 2 * one_hour, noon - 2 * one_hour + 30 * one_day, noon - one_hour,
         noon - 2 * one_hour + 23 * one_day},
        {"the CA ends before it would", ca_end - 20 * one_day, ca_end - 20 * one_day - 2 * one_hour, ca_end,
         ca_end - 20 * one_day - one_hour, ca_end - 7 * one_day},
        {"the CA's last days", ca_end - 2 * one_day, ca_end - 2 * one_day - 2 * one_hour, ca_end,
         ca_end - 2 * one_day - one_hour, ca_end - one_hour},
        {"the CA's last minutes", ca_end - one_hour / 2, ca_end - one_hour * 5 / 2, ca_end, ca_end - one_hour * 3 / 2,
         ca_end - one_hour},
        {"a clock before the CA's beginning", noon - 400 * one_day, noon - one_day, noon + 29 * one_day,
         noon - 400 * one_day, noon + 22 * one_day},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        const Leaf leaf = made.leaf("a.test", false, row.now);
        const Validity validity = validity_of(leaf.certificate);
        CHECK(validity.not_before == row.not_before);
        CHECK(validity.not_after == row.not_after);
        CHECK(validity.not_after - validity.not_before <= 90 * one_day);
        CHECK(leaf.usable_from == row.usable_from);
        CHECK(leaf.renew_at == row.renew_at);
        CHECK(leaf.renew_at <= validity.not_after - one_hour);
    }
    const auto late = make_leaf_certificate(made.root, made.ca_key, "a.test", false, made.leaf_key, ca_end);
    REQUIRE_FALSE(late);
    CHECK(late.error().kind() == ErrorKind::invalid);
}

TEST_CASE("serial numbers are positive, short and never the same") {
    const Made made;
    std::set<std::string> seen;
    for (int round = 0; round < 300; ++round) {
        const std::string serial = serial_of(made.leaf("a.test").certificate);
        CHECK(serial.size() == 16);
        CHECK((static_cast<unsigned char>(serial[0]) & 0xc0U) == 0x40U);
        CHECK(seen.insert(serial).second);
    }
}

TEST_CASE("no certificate for a name that is not canonical") {
    const Folder folder;
    const auto authority = CertificateAuthority::open_or_create(folder.path, noon);
    REQUIRE(authority);
    const auto key = make_p256_key();
    struct Row {
        std::string host;
        bool is_ip;
    };
    const Row refused[] = {
        {"", false},
        {"", true},
        {"*.example.com", false},
        {"*", false},
        {"A.test", false},
        {"a.test.", false},
        {".a.test", false},
        {"a..test", false},
        {"a b", false},
        {"a.test:443", false},
        {std::string("a\0b.test", 8), false},
        {"b\xc3\xbc"
         "cher.test",
         false},
        {"DNS:a.test,DNS:b.test", false},
        {"a.test,DNS:b.test", false},
        {std::string(254, 'a'), false},
        {std::string(64, 'a') + ".test", false},
        {"192.0.2.1", false},
        {"2001:db8::1", false},
        {"[2001:db8::1]", false},
        {"[2001:db8::1]", true},
        {"127.1", false},
        {"127.1", true},
        {"0x7f000001", false},
        {"a.test", true},
        {"fe80::1%eth0", true},
    };
    for (const Row& row : refused) {
        CAPTURE(row.host, row.is_ip);
        const auto leaf = (*authority)->mint(row.host, row.is_ip, *key, noon);
        REQUIRE_FALSE(leaf);
        CHECK(leaf.error().kind() == ErrorKind::invalid);
    }
    CHECK((*authority)->mint("a.test", false, *key, noon));
    CHECK_FALSE((*authority)->mint("a.test", false, nullptr, noon));
}
