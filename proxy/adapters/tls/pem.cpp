#include "adapters/tls/pem.hpp"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "adapters/tls/owned.hpp"

namespace opid {
namespace {

using Bio = Owned<BIO, BIO_free_all>;

Bio reader_of(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

std::string text_of(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

// Without it OpenSSL would ask for a passphrase at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

bool at_end() {
    const unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

}  // namespace

CertificatePtr certificate_from_pem(std::string_view text) {
    const Bio bio = reader_of(text);
    X509* const certificate = bio ? PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr) : nullptr;
    ERR_clear_error();
    return certificate == nullptr ? nullptr : CertificatePtr(certificate, X509_free);
}

std::vector<CertificatePtr> certificates_from_pem(std::string_view text) {
    std::vector<CertificatePtr> certificates;
    const Bio bio = reader_of(text);
    while (bio) {
        ERR_clear_error();
        X509* const certificate = PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr);
        if (certificate != nullptr) {
            certificates.emplace_back(certificate, X509_free);
        } else if (at_end() || BIO_pending(bio.get()) == 0) {
            break;
        }
    }
    ERR_clear_error();
    return certificates;
}

std::string to_pem(const CertificatePtr& certificate) {
    const Bio bio(BIO_new(BIO_s_mem()));
    if (!bio || PEM_write_bio_X509(bio.get(), certificate.get()) != 1) return {};
    return text_of(bio.get());
}

PrivateKeyPtr key_from_pem(std::string_view text) {
    const Bio bio = reader_of(text);
    EVP_PKEY* const key = bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr) : nullptr;
    ERR_clear_error();
    return key == nullptr ? nullptr : PrivateKeyPtr(key, EVP_PKEY_free);
}

std::optional<std::string> to_pem(const PrivateKeyPtr& key) {
    const Bio bio(BIO_new(BIO_s_secmem()));
    if (!bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
        ERR_clear_error();
        return std::nullopt;
    }
    return text_of(bio.get());
}

void wipe(std::string& secret) {
    OPENSSL_cleanse(secret.data(), secret.size());
    secret.clear();
}

}  // namespace opid
