#include "adapters/tls/trust_files.hpp"

#include <fmt/format.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "adapters/system/durable_file.hpp"
#include "adapters/tls/folder_lock.hpp"
#include "adapters/tls/pem.hpp"
#include "adapters/tls/truststore.hpp"

namespace opid {
namespace {

constexpr std::size_t bundle_bytes_max = std::size_t{4} * 1024 * 1024;  // twenty times Debian's
constexpr unsigned for_everybody = 0644;

constexpr const char* usual_places[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch, Gentoo
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",                   // older ones
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",                                  // Alpine, BSD, macOS
};

bool is_readable_file(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), R_OK) == 0;
}

bool is_same_file(const std::string& one, const std::string& other) {
    std::error_code error;
    return one == other || std::filesystem::equivalent(one, other, error);
}

bool is_there(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

// Certificates alone, whatever else stands in the file; not ours, in case it has been added to the system's.
Result<std::vector<CertificatePtr>> read_roots(const std::string& path, const CertificatePtr& ours) {
    const Result<std::string> text = read_small_file(path, bundle_bytes_max);
    if (!text) return text.error();
    std::vector<CertificatePtr> roots = certificates_from_pem(*text);
    std::erase_if(roots, [&ours](const CertificatePtr& root) { return X509_cmp(root.get(), ours.get()) == 0; });
    if (roots.empty()) return Error(ErrorKind::invalid, path + ": holds no root certificate in PEM form");
    return roots;
}

std::string bundle_text(const std::vector<CertificatePtr>& roots, const std::string& roots_path,
                        const CertificateAuthority& authority) {
    std::string text = "# The roots of " + roots_path + "\n";
    for (const CertificatePtr& root : roots) text += to_pem(root);
    return text +
           fmt::format("# opid: {} SHA-256 {}\n{}", authority.subject(), authority.fingerprint(), authority.pem());
}

Status write_truststore(const std::string& path, const std::vector<CertificatePtr>& roots, const CertificatePtr& ours) {
    std::vector<TrustedCertificate> trusted;
    trusted.push_back({"opid", ours});
    for (const CertificatePtr& root : roots) trusted.push_back({fmt::format("root-{:03}", trusted.size()), root});
    const Result<std::string> store = make_truststore(trusted, truststore_password);
    if (!store) return Error(store.error().kind(), path + ": " + store.error().what());
    return write_durably(path, *store, for_everybody);
}

}  // namespace

TrustFiles trust_files(const std::string& folder) {
    return {folder + "/ca.pem", folder + "/bundle.pem", folder + "/truststore.p12"};
}

Result<std::string> system_roots(const std::string& not_this) {
    std::vector<std::string> places;
    // tidy: allow(environment) OpenSSL's own variable, which every client that we serve goes by
    if (const char* const named = std::getenv("SSL_CERT_FILE")) places.emplace_back(named);
    places.insert(places.end(), std::begin(usual_places), std::end(usual_places));
    places.emplace_back(X509_get_default_cert_file());
    for (const std::string& place : places) {
        if (is_readable_file(place) && !is_same_file(place, not_this)) return place;
    }
    return Error(ErrorKind::not_found,
                 "no file with the system's root certificates: install ca-certificates or name one in SSL_CERT_FILE");
}

Status write_trust_files(const std::string& folder, const CertificateAuthority& authority) {
    const TrustFiles files = trust_files(folder);
    const Result<std::string> roots_path = system_roots(files.bundle);
    if (!roots_path) return roots_path.error();
    const CertificatePtr ours = certificate_from_pem(authority.pem());
    const Result<std::vector<CertificatePtr>> roots = read_roots(*roots_path, ours);
    if (!roots) return roots.error();
    const std::string bundle = bundle_text(*roots, *roots_path, authority);

    const Result<FolderLock> lock = FolderLock::take(folder, FolderLock::Kind::exclusive);
    if (!lock) return lock.error();
    const Result<std::string> there = read_small_file(files.bundle, bundle_bytes_max);
    const bool same_bundle = there && *there + "\n" == bundle;
    if (same_bundle && is_there(files.truststore)) return ok();
    // The trust store first: it can't be compared (salt), so an old one beside a new bundle would stay.
    Status written = write_truststore(files.truststore, *roots, ours);
    if (!written || same_bundle) return written;
    return write_durably(files.bundle, bundle, for_everybody);
}

}  // namespace opid
