#include "adapters/tls/trust_files.hpp"

#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "adapters/tls/certificates.hpp"
#include "adapters/tls/owned.hpp"
#include "adapters/tls/pem.hpp"
#include "tls_peer.hpp"

using namespace opid;
using namespace opid::test;
using Catch::Contains;

namespace {

// SSL_CERT_FILE for the length of a test.
struct NamedRoots {
    explicit NamedRoots(const std::string& path) {
        if (const char* const value = std::getenv("SSL_CERT_FILE")) before = value;
        ::setenv("SSL_CERT_FILE", path.c_str(), 1);
    }
    ~NamedRoots() { before ? ::setenv("SSL_CERT_FILE", before->c_str(), 1) : ::unsetenv("SSL_CERT_FILE"); }
    NamedRoots(const NamedRoots&) = delete;
    NamedRoots& operator=(const NamedRoots&) = delete;
    std::optional<std::string> before;
};

std::string root_pem() { return to_pem(*make_root_certificate(*make_p256_key(), noon)); }

struct Bag {
    std::string alias;
    std::string subject;
    std::string usage;  // of the attribute that Java looks for
    friend bool operator==(const Bag&, const Bag&) = default;
};
std::ostream& operator<<(std::ostream& out, const Bag& bag) {
    return out << bag.alias << '|' << bag.subject << '|' << bag.usage;
}

std::string usage_of(const PKCS12_SAFEBAG* bag) {
    const Owned<ASN1_OBJECT, ASN1_OBJECT_free> oid(OBJ_txt2obj("2.16.840.1.113894.746875.1.1", 1));
    const STACK_OF(X509_ATTRIBUTE)* const attributes = PKCS12_SAFEBAG_get0_attrs(bag);
    const int at = X509at_get_attr_by_OBJ(attributes, oid.get(), -1);
    if (at < 0) return "none";
    const ASN1_TYPE* const value = X509_ATTRIBUTE_get0_type(X509at_get_attr(attributes, at), 0);
    char text[64] = {};
    OBJ_obj2txt(text, sizeof text, value->value.object, 1);
    return text;
}

std::vector<Bag> bags_of(const std::string& bytes, const char* password) {
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const Owned<PKCS12, PKCS12_free> store(d2i_PKCS12(nullptr, &data, static_cast<long>(bytes.size())));
    REQUIRE(store);
    REQUIRE(PKCS12_verify_mac(store.get(), password, -1) == 1);
    CHECK(PKCS12_verify_mac(store.get(), "other", -1) == 0);
    ERR_clear_error();
    std::vector<Bag> all;
    STACK_OF(PKCS7)* const safes = PKCS12_unpack_authsafes(store.get());
    for (int safe = 0; safe < sk_PKCS7_num(safes); ++safe) {
        STACK_OF(PKCS12_SAFEBAG)* const bags = PKCS12_unpack_p7data(sk_PKCS7_value(safes, safe));
        for (int at = 0; at < sk_PKCS12_SAFEBAG_num(bags); ++at) {
            PKCS12_SAFEBAG* const bag = sk_PKCS12_SAFEBAG_value(bags, at);
            const CertificatePtr certificate(PKCS12_SAFEBAG_get1_cert(bag), X509_free);
            REQUIRE(certificate);
            char* const alias = PKCS12_get_friendlyname(bag);
            all.push_back({alias == nullptr ? "" : alias, subject_of(certificate), usage_of(bag)});
            OPENSSL_free(alias);
        }
        sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    }
    sk_PKCS7_pop_free(safes, PKCS7_free);
    return all;
}

struct Bench {
    Bench() : named(roots_file()) {
        roots = {root_pem(), root_pem()};
        write_file(roots_file(), roots[0] +
                                     "\n# a comment\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" +
                                     "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + roots[1]);
        ca = *CertificateAuthority::open_or_create(folder.file("ca"), noon);
        files = trust_files(folder.file("ca"));
    }
    std::string roots_file() const { return folder.file("roots.pem"); }
    void write() const {
        const Status written = write_trust_files(folder.file("ca"), *ca);
        INFO((written ? "" : written.error().what()));
        REQUIRE(written);
    }
    std::string bundle_of(const std::vector<std::string>& pems) const {
        std::string text = "# The roots of " + roots_file() + "\n";
        for (const std::string& pem : pems) text += pem;
        return text + "# opid: " + ca->subject() + " SHA-256 " + ca->fingerprint() + "\n" + ca->pem();
    }
    Folder folder;
    NamedRoots named;
    std::vector<std::string> roots;
    std::shared_ptr<const CertificateAuthority> ca;
    TrustFiles files;
};

ino_t inode_of(const std::string& path) {
    struct ::stat entry {};
    REQUIRE(::stat(path.c_str(), &entry) == 0);
    return entry.st_ino;
}

}  // namespace

TEST_CASE("where the files are") {
    const TrustFiles files = trust_files("/d/ca");
    CHECK(files.ca == "/d/ca/ca.pem");
    CHECK(files.bundle == "/d/ca/bundle.pem");
    CHECK(files.truststore == "/d/ca/truststore.p12");
}

TEST_CASE("the bundle holds the system's roots and ours, certificates alone") {
    const Bench bench;
    bench.write();
    CHECK(read_file(bench.files.bundle) == bench.bundle_of(bench.roots));
    CHECK(mode_of(bench.files.bundle) == 0644);
    CHECK(mode_of(bench.files.truststore) == 0644);
}

TEST_CASE("the trust store holds the same, marked as Java wants it") {
    const Bench bench;
    bench.write();
    const std::string any = "2.5.29.37.0";
    CHECK(bags_of(read_file(bench.files.truststore), "changeit") ==
          std::vector<Bag>{{"opid", bench.ca->subject(), any},
                           {"root-001", subject_of(certificate_from_pem(bench.roots[0])), any},
                           {"root-002", subject_of(certificate_from_pem(bench.roots[1])), any}});
}

TEST_CASE("files are written anew only where their content changes") {
    Bench bench;
    bench.write();
    const auto bundle = inode_of(bench.files.bundle);
    const std::string store = read_file(bench.files.truststore);
    bench.write();
    CHECK(inode_of(bench.files.bundle) == bundle);
    CHECK(read_file(bench.files.truststore) == store);
    SECTION("the trust store is lost") {
        std::filesystem::remove(bench.files.truststore);
        bench.write();
        CHECK(inode_of(bench.files.bundle) == bundle);
        CHECK(bags_of(read_file(bench.files.truststore), truststore_password).size() == 3);
    }
    SECTION("the bundle is lost or changed by hand") {
        write_file(bench.files.bundle, "edited");
        bench.write();
        CHECK(read_file(bench.files.bundle) == bench.bundle_of(bench.roots));
        CHECK(read_file(bench.files.truststore) != store);
    }
    SECTION("the system's roots change") {
        write_file(bench.roots_file(), bench.roots[1]);
        bench.write();
        CHECK(read_file(bench.files.bundle) == bench.bundle_of({bench.roots[1]}));
        CHECK(bags_of(read_file(bench.files.truststore), truststore_password).size() == 2);
    }
    SECTION("our CA changes") {
        const std::string old = bench.ca->pem();
        bench.ca = *CertificateAuthority::rotate(bench.folder.file("ca"), noon);
        bench.write();
        CHECK(read_file(bench.files.bundle) == bench.bundle_of(bench.roots));
        CHECK_THAT(read_file(bench.files.bundle), !Contains(old));
        CHECK(bags_of(read_file(bench.files.truststore), truststore_password)[0].subject == bench.ca->subject());
    }
    SECTION("our CA is among the system's roots") {
        write_file(bench.roots_file(), bench.roots[0] + bench.ca->pem());
        bench.write();
        CHECK(read_file(bench.files.bundle) == bench.bundle_of({bench.roots[0]}));
    }
}

TEST_CASE("the roots are those that the environment names, never our own bundle") {
    const Bench bench;
    const std::string nowhere = bench.folder.file("nowhere");
    CHECK(*system_roots(nowhere) == bench.roots_file());
    std::filesystem::create_symlink(bench.roots_file(), bench.folder.file("link"));
    for (const std::string& not_this : {bench.roots_file(), bench.folder.file("link")}) {
        const auto other = system_roots(not_this);
        if (other) CHECK(*other != bench.roots_file());
        if (!other) CHECK(other.error().kind() == ErrorKind::not_found);
    }
    const NamedRoots absent(nowhere);
    const auto fallback = system_roots("");
    if (fallback) CHECK(std::filesystem::exists(*fallback));
}

TEST_CASE("what can't be used is named") {
    const Bench bench;
    SECTION("roots without a certificate") {
        write_file(bench.roots_file(), "none");
        const Status written = write_trust_files(bench.folder.file("ca"), *bench.ca);
        REQUIRE_FALSE(written);
        CHECK(written.error().what() == bench.roots_file() + ": holds no root certificate in PEM form");
        CHECK_FALSE(std::filesystem::exists(bench.files.bundle));
    }
    SECTION("a folder that isn't there") {
        const Status written = write_trust_files(bench.folder.file("elsewhere"), *bench.ca);
        REQUIRE_FALSE(written);
        CHECK_THAT(written.error().what(), Contains(bench.folder.file("elsewhere")));
    }
}
