#include "base/sha256.hpp"

// The digest itself, without the providers, locks and heap of OpenSSL's EVP layer: some eight digests a guarded write.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include "base/encoding.hpp"
#include "base/invariant.hpp"

namespace opid {

struct Sha256::State {
    State() { OPID_INVARIANT(SHA256_Init(&context) == 1); }
    SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
    OPID_INVARIANT(SHA256_Update(&state_->context, bytes.data(), bytes.size()) == 1);
}

Digest Sha256::finish() {
    Digest digest;
    OPID_INVARIANT(SHA256_Final(digest.data(), &state_->context) == 1);
    return digest;
}

Digest sha256(std::string_view bytes) {
    SHA256_CTX context;
    Digest digest;
    OPID_INVARIANT(SHA256_Init(&context) == 1);
    OPID_INVARIANT(SHA256_Update(&context, bytes.data(), bytes.size()) == 1);
    OPID_INVARIANT(SHA256_Final(digest.data(), &context) == 1);
    return digest;
}

std::string to_hex(const Digest& digest) {
    return hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

}  // namespace opid
