#include "adapters/tls/certificate_authority.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "adapters/system/durable_file.hpp"
#include "adapters/tls/certificates.hpp"
#include "adapters/tls/folder_lock.hpp"
#include "adapters/tls/pem.hpp"
#include "base/encoding.hpp"
#include "core/http/authority.hpp"

namespace opid {
namespace {

constexpr std::size_t pem_bytes_max = std::size_t{64} * 1024;
constexpr unsigned for_owner = 0600;
constexpr unsigned for_everybody = 0644;
constexpr unsigned others_bits = 077;

struct Pair {
    CertificatePtr certificate;
    PrivateKeyPtr key;
};

std::string certificate_path(const std::string& folder) { return folder + "/ca.pem"; }
std::string key_path(const std::string& folder) { return folder + "/ca.key"; }

bool is_there(const std::string& path) {
    struct ::stat entry {};
    return ::lstat(path.c_str(), &entry) == 0 || errno != ENOENT;
}

Status make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
    if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return ok();
    return Error(ErrorKind::unavailable, fmt::format("{}: {}", folder, std::strerror(errno)));
}

Result<PrivateKeyPtr> read_key(const std::string& folder) {
    const std::string path = key_path(folder);
    struct ::stat entry {};
    if (::stat(path.c_str(), &entry) != 0) {
        if (errno != ENOENT) return Error(ErrorKind::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
        return Error(ErrorKind::not_found, path +
                                               ": the CA's key is missing: put it back, or make a new CA with `opid ca "
                                               "rotate`, which every client then has to trust");
    }
    if ((entry.st_mode & others_bits) != 0) {
        return Error(ErrorKind::invalid, fmt::format("{}: others may read the CA's key (mode {:04o}): run chmod 600 {}",
                                                     path, entry.st_mode & 07777U, path));
    }
    Result<std::string> text = read_small_file(path, pem_bytes_max);
    if (!text) return text.error();
    PrivateKeyPtr key = key_from_pem(*text);
    wipe(*text);
    if (!key) return Error(ErrorKind::invalid, path + ": holds no private key in PEM form without a passphrase");
    const int type = EVP_PKEY_get_base_id(key.get());
    if (type != EVP_PKEY_EC && type != EVP_PKEY_RSA) {
        return Error(ErrorKind::invalid, path + ": the CA's key must be an EC or an RSA one");
    }
    return key;
}

Result<CertificatePtr> read_certificate(const std::string& folder) {
    const std::string path = certificate_path(folder);
    const Result<std::string> text = read_small_file(path, pem_bytes_max);
    if (!text && text.error().kind() == ErrorKind::not_found) {
        return Error(ErrorKind::not_found, path +
                                               ": the CA's certificate is missing: put it back, or start `opid serve`, "
                                               "which makes one for the key that is there");
    }
    if (!text) return text.error();
    const CertificatePtr certificate = certificate_from_pem(*text);
    if (!certificate) return Error(ErrorKind::invalid, path + ": holds no certificate in PEM form");
    return certificate;
}

Status check(const Pair& pair, const std::string& folder, Instant now) {
    const std::string path = certificate_path(folder);
    const bool fit = X509_check_private_key(pair.certificate.get(), pair.key.get()) == 1;
    ERR_clear_error();
    if (!fit) {
        return Error(ErrorKind::invalid,
                     fmt::format("{} doesn't belong to {}: put the right one back, or make a new CA with "
                                 "`opid ca rotate`",
                                 key_path(folder), path));
    }
    if (X509_check_ca(pair.certificate.get()) != 1) {
        return Error(ErrorKind::invalid,
                     path + ": not the certificate of a CA (basicConstraints CA:TRUE, keyUsage keyCertSign)");
    }
    if (X509_get0_subject_key_id(pair.certificate.get()) == nullptr) {
        return Error(ErrorKind::invalid,
                     path + ": has no subject key identifier, without which strict clients refuse it");
    }
    const Instant end = validity_of(pair.certificate).not_after;
    if (now >= end) {
        return Error(ErrorKind::invalid, fmt::format("{}: expired on {:%Y-%m-%d}: make a new CA with `opid ca rotate`",
                                                     path, fmt::gmtime(std::chrono::system_clock::to_time_t(end))));
    }
    return ok();
}

Result<Pair> read_pair(const std::string& folder, Instant now) {
    if (!is_there(certificate_path(folder)) && !is_there(key_path(folder))) {
        return Error(ErrorKind::not_found, folder + ": no CA there yet: `opid serve` makes one");
    }
    Pair pair;
    Result<PrivateKeyPtr> key = read_key(folder);
    if (!key) return key.error();
    pair.key = *key;
    Result<CertificatePtr> certificate = read_certificate(folder);
    if (!certificate) return certificate.error();
    pair.certificate = *certificate;
    const Status checked = check(pair, folder, now);
    if (!checked) return checked.error();
    return pair;
}

Result<std::string> new_key_text() {
    const Result<PrivateKeyPtr> key = make_p256_key();
    if (!key) return key.error();
    std::optional<std::string> text = to_pem(*key);
    if (!text) return Error(ErrorKind::internal, "the CA's key can't be written as PEM");
    return std::move(*text);
}

Result<std::string> new_certificate_text(const PrivateKeyPtr& key, Instant now) {
    const Result<CertificatePtr> certificate = make_root_certificate(key, now);
    if (!certificate) return certificate.error();
    std::string text = to_pem(*certificate);
    if (text.empty()) return Error(ErrorKind::internal, "the CA's certificate can't be written as PEM");
    return text;
}

// The key goes first and the certificate is made for the key that is on disk: whatever is cut short or happens twice,
// the two belong together.
Status complete(const std::string& folder, Instant now) {
    if (is_there(certificate_path(folder))) return ok();
    if (!is_there(key_path(folder))) {
        Result<std::string> text = new_key_text();
        if (!text) return text.error();
        const Result<bool> created = create_durably(key_path(folder), *text, for_owner);
        wipe(*text);
        if (!created) return created.error();
    }
    const Result<PrivateKeyPtr> key = read_key(folder);
    if (!key) return key.error();
    const Result<std::string> text = new_certificate_text(*key, now);
    if (!text) return text.error();
    const Result<bool> created = create_durably(certificate_path(folder), *text, for_everybody);
    return created ? ok() : Status(created.error());
}

// A copy under another name, if there is anything to copy.
Status keep(const std::string& path, const std::string& copy, unsigned mode) {
    if (!is_there(path)) return ok();
    Result<std::string> text = read_small_file(path, pem_bytes_max);
    if (!text) return text.error();
    const Result<bool> created = create_durably(copy, *text + "\n", mode);
    Status status = created ? ok() : Status(created.error());
    if (created && !*created) {
        Result<std::string> there = read_small_file(copy, pem_bytes_max);
        if (!there || *there != *text) {
            status = Error(ErrorKind::conflict, copy + ": is in the way of the old CA's copy: move it elsewhere");
        }
        if (there) wipe(*there);
    }
    wipe(*text);
    return status;
}

Status keep_old(const std::string& folder) {
    const Result<CertificatePtr> certificate = read_certificate(folder);
    std::string tag = "unreadable";
    if (certificate) {
        tag = ascii_lower(fingerprint_of(*certificate));
        tag.erase(std::remove(tag.begin(), tag.end(), ':'), tag.end());
        tag = tag.substr(0, 8);
    }
    const std::string name = folder + "/ca-" + tag;
    Status kept = keep(certificate_path(folder), name + ".pem", for_everybody);
    if (!kept) return kept;
    return keep(key_path(folder), name + ".key", for_owner);
}

// Without a certificate in between, for a new key must never stand beside the old certificate.
Status put_in_place(const std::string& folder, const FolderLock& lock, std::string_view key,
                    std::string_view certificate) {
    if (::unlink(certificate_path(folder).c_str()) != 0 && errno != ENOENT) {
        return Error(ErrorKind::unavailable, fmt::format("{}: {}", certificate_path(folder), std::strerror(errno)));
    }
    Status synced = lock.sync();
    if (!synced) return synced;
    Status written = write_durably(key_path(folder), key, for_owner);
    if (!written) return written;
    return write_durably(certificate_path(folder), certificate, for_everybody);
}

Status replace_pair(const std::string& folder, const FolderLock& lock, Instant now) {
    const Result<PrivateKeyPtr> key = make_p256_key();
    if (!key) return key.error();
    const Result<std::string> certificate = new_certificate_text(*key, now);
    if (!certificate) return certificate.error();
    std::optional<std::string> key_text = to_pem(*key);
    if (!key_text) return Error(ErrorKind::internal, "the CA's key can't be written as PEM");
    Status done = keep_old(folder);
    if (done) done = put_in_place(folder, lock, *key_text, *certificate);
    wipe(*key_text);
    return done;
}

}  // namespace

CertificateAuthority::CertificateAuthority(CertificatePtr certificate, PrivateKeyPtr key)
    : certificate_(std::move(certificate)),
      key_(std::move(key)),
      pem_(to_pem(certificate_)),
      fingerprint_(fingerprint_of(certificate_)),
      subject_(subject_of(certificate_)) {
    const Validity validity = validity_of(certificate_);
    not_before_ = validity.not_before;
    not_after_ = validity.not_after;
}

Result<std::shared_ptr<const CertificateAuthority>> CertificateAuthority::open_or_create(const std::string& folder,
                                                                                         Instant now) {
    const Status made = make_folder(folder);
    if (!made) return made.error();
    const Result<FolderLock> lock = FolderLock::take(folder, FolderLock::Kind::exclusive);
    if (!lock) return lock.error();
    const Status completed = complete(folder, now);
    if (!completed) return completed.error();
    Result<Pair> pair = read_pair(folder, now);
    if (!pair) return pair.error();
    return std::shared_ptr<const CertificateAuthority>(new CertificateAuthority(pair->certificate, pair->key));
}

Result<std::shared_ptr<const CertificateAuthority>> CertificateAuthority::open(const std::string& folder, Instant now) {
    const Result<FolderLock> lock = FolderLock::take(folder, FolderLock::Kind::shared);
    if (!lock) return lock.error();
    Result<Pair> pair = read_pair(folder, now);
    if (!pair) return pair.error();
    return std::shared_ptr<const CertificateAuthority>(new CertificateAuthority(pair->certificate, pair->key));
}

Result<std::shared_ptr<const CertificateAuthority>> CertificateAuthority::rotate(const std::string& folder,
                                                                                 Instant now) {
    const Status made = make_folder(folder);
    if (!made) return made.error();
    const Result<FolderLock> lock = FolderLock::take(folder, FolderLock::Kind::exclusive);
    if (!lock) return lock.error();
    const Status replaced = replace_pair(folder, *lock, now);
    if (!replaced) return replaced.error();
    Result<Pair> pair = read_pair(folder, now);
    if (!pair) return pair.error();
    return std::shared_ptr<const CertificateAuthority>(new CertificateAuthority(pair->certificate, pair->key));
}

Result<Leaf> CertificateAuthority::mint(const std::string& host, bool is_ip, const PrivateKeyPtr& key,
                                        Instant now) const {
    const bool canonical = is_ip ? http::parse_ip(host).has_value()
                                 : !http::parse_ip(host) && http::normalise_host(host) == host;
    if (!canonical)
        return Error(ErrorKind::invalid, "no certificate is made for this name: not a canonical host name or address");
    if (!key) return Error(ErrorKind::invalid, "a certificate needs a key");
    return make_leaf_certificate(certificate_, key_, host, is_ip, key, now);
}

Result<PrivateKeyPtr> make_p256_key() {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    if (key == nullptr) {
        ERR_clear_error();
        return Error(ErrorKind::internal, "a P-256 key can't be made");
    }
    return PrivateKeyPtr(key, EVP_PKEY_free);
}

}  // namespace opid
