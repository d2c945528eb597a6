#pragma once
// opid's own certificate authority: a P-256 key and a self-signed certificate in two files, made on the first start
// and never overwritten. It signs leaves for hosts that a profile covers, and nothing else.
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

struct x509_st;
struct evp_pkey_st;

namespace opid {

using CertificatePtr = std::shared_ptr<x509_st>;
using PrivateKeyPtr = std::shared_ptr<evp_pkey_st>;

struct Leaf {
    CertificatePtr certificate;
    // Minted anew outside of [usable_from, renew_at): its end is near, or the clock went back before its beginning.
    Instant usable_from{};
    Instant renew_at{};
};

// Immutable; thread-safe.
class CertificateAuthority {
public:
    // Reads <folder>/ca.pem and <folder>/ca.key, or makes both when neither is there (folder 0700, key 0600, each
    // whole the moment that it has its name). Several processes may do so at once: all end with the same pair. A key
    // without its certificate, which is what a crash halfway leaves, gets a new certificate; clients that trust the
    // lost one trust it too, as name and key are the same. Errors name the file and say what to do: the key is
    // missing, its mode lets others read it, the two don't belong together, the certificate is no CA or has expired.
    static Result<std::shared_ptr<const CertificateAuthority>> open_or_create(const std::string& folder, Instant now);
    // Changes nothing. not_found: there is no CA yet.
    static Result<std::shared_ptr<const CertificateAuthority>> open(const std::string& folder, Instant now);

    // Puts a new one in place; the old files stay beside it as ca-<first 8 hex digits of its fingerprint>.pem and .key
    // (ca-unreadable where there was no certificate to read). Needs no working CA before. A crash halfway leaves the
    // old key or the new one, which open_or_create completes.
    static Result<std::shared_ptr<const CertificateAuthority>> rotate(const std::string& folder, Instant now);

    // `host` is canonical (core/http/authority.hpp), else: invalid; is_ip: an address, which gets an iPAddress name.
    // `key`: the leaf's.
    Result<Leaf> mint(const std::string& host, bool is_ip, const PrivateKeyPtr& key, Instant now) const;

    const std::string& pem() const { return pem_; }
    const std::string& fingerprint() const { return fingerprint_; }  // SHA-256, upper-case hex with colons
    const std::string& subject() const { return subject_; }          // "CN=opid CA 1a2b3c4d,O=opid"
    Instant not_before() const { return not_before_; }
    Instant not_after() const { return not_after_; }

private:
    CertificateAuthority(CertificatePtr certificate, PrivateKeyPtr key);
    CertificatePtr certificate_;
    PrivateKeyPtr key_;
    std::string pem_;
    std::string fingerprint_;
    std::string subject_;
    Instant not_before_{};
    Instant not_after_{};
};

Result<PrivateKeyPtr> make_p256_key();

}  // namespace opid
