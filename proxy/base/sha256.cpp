#include "base/sha256.hpp"

#include <openssl/evp.h>

#include "base/encoding.hpp"
#include "base/invariant.hpp"

namespace opid {

struct Sha256::State {
    State() : context(EVP_MD_CTX_new()) {
        OPID_INVARIANT(context != nullptr);
        OPID_INVARIANT(EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
    }
    ~State() { EVP_MD_CTX_free(context); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    EVP_MD_CTX* context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
    OPID_INVARIANT(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

Digest Sha256::finish() {
    Digest digest;
    OPID_INVARIANT(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) == 1);
    return digest;
}

Digest sha256(std::string_view bytes) {
    Digest digest;
    std::size_t length = digest.size();
    OPID_INVARIANT(EVP_Q_digest(nullptr, "SHA256", nullptr, bytes.data(), bytes.size(), digest.data(), &length) == 1);
    return digest;
}

std::string to_hex(const Digest& digest) {
    return hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

}  // namespace opid
