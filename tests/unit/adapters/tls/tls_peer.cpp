#include "tls_peer.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "adapters/tls/owned.hpp"
#include "adapters/tls/pem.hpp"

namespace opid::test {
namespace {

using Context = Owned<SSL_CTX, SSL_CTX_free>;
using Ssl = Owned<SSL, SSL_free>;

void require(bool condition, const char* what) {
    if (!condition) throw std::runtime_error(what);
}

int keep_session(SSL* ssl, SSL_SESSION* session) {
    *static_cast<SessionPtr*>(SSL_get_app_data(ssl)) = SessionPtr(session, SSL_SESSION_free);
    return 1;
}

Context make_context(const Client& client) {
    Context context(SSL_CTX_new(TLS_client_method()));
    require(context != nullptr, "SSL_CTX_new");
    SSL_CTX_set_security_level(context.get(), 0);  // so that TLS 1.1 can be offered at all
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), client.max_version);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context.get(), keep_session);
    for (const CertificatePtr& root : certificates_from_pem(client.trusted)) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), root.get());
    }
    return context;
}

Ssl make_client(SSL_CTX* context, const Client& client, SessionPtr* session) {
    Ssl ssl(SSL_new(context));
    require(ssl != nullptr, "SSL_new");
    SSL_set_app_data(ssl.get(), session);
    X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl.get());
    X509_VERIFY_PARAM_set_time(rules, std::chrono::system_clock::to_time_t(client.now));
    X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_X509_STRICT);
    if (client.is_ip) {
        require(X509_VERIFY_PARAM_set1_ip_asc(rules, client.host.c_str()) == 1, "set1_ip_asc");
    } else {
        X509_VERIFY_PARAM_set_hostflags(rules,
                                        X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        require(SSL_set1_host(ssl.get(), client.host.c_str()) == 1, "set1_host");
        SSL_set_tlsext_host_name(ssl.get(), client.host.c_str());
    }
    std::string protocols;
    for (const std::string& name : client.alpn) protocols += static_cast<char>(name.size()) + name;
    if (!protocols.empty()) {
        SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(protocols.data()),
                            static_cast<unsigned int>(protocols.size()));
    }
    if (client.resume) SSL_set_session(ssl.get(), client.resume.get());
    SSL_set_connect_state(ssl.get());
    return ssl;
}

std::string last_error() {
    const unsigned long code = ERR_peek_error();
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    ERR_clear_error();
    return reason == nullptr ? "" : reason;
}

bool pump(SSL* client, SSL* server, Meeting& meeting) {
    for (int round = 0; round < 20; ++round) {
        const int mine = SSL_do_handshake(client);
        if (mine <= 0 && SSL_get_error(client, mine) != SSL_ERROR_WANT_READ) {
            meeting.error = last_error();
            SSL_do_handshake(server);  // takes the alert
            ERR_clear_error();
            return false;
        }
        const int theirs = SSL_do_handshake(server);
        if (theirs <= 0 && SSL_get_error(server, theirs) != SSL_ERROR_WANT_READ) {
            meeting.error = last_error();
            return false;
        }
        if (mine == 1 && theirs == 1) return true;
    }
    meeting.error = "no end";
    return false;
}

bool carries(SSL* from, SSL* to) {
    char got[16] = {};
    return SSL_write(from, "words", 5) == 5 && SSL_read(to, got, sizeof got) == 5 && std::string(got) == "words";
}

}  // namespace

std::string Client::hello() const {
    SessionPtr session;
    const Context context = make_context(*this);
    const Ssl ssl = make_client(context.get(), *this, &session);
    SSL_set_bio(ssl.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_do_handshake(ssl.get());
    ERR_clear_error();
    char* data = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(ssl.get()), &data);
    return {data, static_cast<std::size_t>(size)};
}

Meeting meet(const Client& wanted, SSL* server) {
    Meeting meeting;
    const Context context = make_context(wanted);
    const Ssl client = make_client(context.get(), wanted, &meeting.session);
    BIO* near = nullptr;
    BIO* far = nullptr;
    require(BIO_new_bio_pair(&near, 65536, &far, 65536) == 1, "BIO_new_bio_pair");
    SSL_set_bio(client.get(), near, near);
    SSL_set_bio(server, far, far);
    meeting.done = pump(client.get(), server, meeting);
    if (!meeting.done) return meeting;
    require(carries(server, client.get()), "server to client");  // brings the tickets of TLS 1.3 along
    require(carries(client.get(), server), "client to server");
    meeting.resumed = SSL_session_reused(client.get()) == 1;
    meeting.version = SSL_get_version(client.get());
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(client.get(), &name, &size);
    meeting.alpn.assign(reinterpret_cast<const char*>(name), size);
    meeting.leaf = CertificatePtr(SSL_get1_peer_certificate(client.get()), X509_free);
    SSL_shutdown(client.get());
    SSL_shutdown(server);
    return meeting;
}

Folder::Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "opid-unit-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
}
Folder::~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
}
std::vector<std::string> Folder::names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
unsigned mode_of(const std::string& path) {
    struct ::stat entry {};
    return ::stat(path.c_str(), &entry) == 0 ? entry.st_mode & 07777U : 0U;
}

}  // namespace opid::test
