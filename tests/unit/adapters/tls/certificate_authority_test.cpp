#include "adapters/tls/certificate_authority.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <set>
#include <thread>

#include "adapters/tls/certificates.hpp"
#include "adapters/tls/pem.hpp"
#include "tls_peer.hpp"

using namespace opid;
using namespace opid::test;
using Catch::Contains;

namespace {

std::shared_ptr<const CertificateAuthority> made_in(const std::string& folder, Instant now = noon) {
    const auto made = CertificateAuthority::open_or_create(folder, now);
    INFO((made ? "" : made.error().what()));
    REQUIRE(made);
    return *made;
}
std::string error_in(const std::string& folder, Instant now = noon) {
    const auto opened = CertificateAuthority::open(folder, now);
    const auto created = CertificateAuthority::open_or_create(folder, now);
    REQUIRE_FALSE(opened);
    REQUIRE_FALSE(created);
    CHECK(opened.error().what() == created.error().what());
    return created.error().what();
}
std::string tag_of(const std::string& fingerprint) {
    std::string tag;
    for (const char c : fingerprint.substr(0, 11)) {
        if (c != ':') tag += static_cast<char>(std::tolower(c));
    }
    return tag;
}
void put(const std::string& path, const std::string& text, unsigned mode) {
    write_file(path, text);
    ::chmod(path.c_str(), mode);
}

}  // namespace

TEST_CASE("a CA is made once and read ever after") {
    const Folder parent;
    const std::string folder = parent.file("a/b");
    const auto authority = made_in(folder);
    CHECK(mode_of(folder) == 0700);
    CHECK(mode_of(folder + "/ca.key") == 0600);
    CHECK(mode_of(folder + "/ca.pem") == 0644);
    CHECK(std::regex_match(authority->subject(), std::regex("CN=opid CA [0-9a-f]{8},O=opid")));
    CHECK(std::regex_match(authority->fingerprint(), std::regex("([0-9A-F]{2}:){31}[0-9A-F]{2}")));
    CHECK(authority->not_before() == noon - one_day);
    CHECK(authority->not_after() == noon - one_day + 3652 * one_day);
    CHECK(authority->pem() == read_file(folder + "/ca.pem"));
    CHECK_THAT(read_file(folder + "/ca.key"), Contains("-----BEGIN PRIVATE KEY-----"));
    CHECK_THAT(authority->pem(), !Contains("PRIVATE"));

    const std::string key = read_file(folder + "/ca.key");
    for (const Instant later : {noon, noon + 100 * one_day, noon - 100 * one_day}) {
        CHECK(made_in(folder, later)->fingerprint() == authority->fingerprint());
        const auto opened = CertificateAuthority::open(folder, later);
        REQUIRE(opened);
        CHECK((*opened)->pem() == authority->pem());
    }
    CHECK(read_file(folder + "/ca.key") == key);
    CHECK(std::filesystem::hard_link_count(folder + "/ca.key") == 1);
}

TEST_CASE("nothing is made by open()") {
    const Folder folder;
    const auto none = CertificateAuthority::open(folder.path, noon);
    REQUIRE_FALSE(none);
    CHECK(none.error().kind() == ErrorKind::not_found);
    CHECK(none.error().what() == folder.path + ": no CA there yet: `opid serve` makes one");
    CHECK(folder.names().empty());
    const auto nowhere = CertificateAuthority::open(folder.file("nowhere"), noon);
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().kind() == ErrorKind::not_found);
}

TEST_CASE("two CAs share nothing") {
    const Folder one;
    const Folder other;
    const auto first = made_in(one.path);
    const auto second = made_in(other.path);
    CHECK(first->fingerprint() != second->fingerprint());
    CHECK(first->subject() != second->subject());
    CHECK(read_file(one.file("ca.key")) != read_file(other.file("ca.key")));
}

TEST_CASE("many who start at once end with one pair") {
    const Folder folder;
    SECTION("threads") {
        std::vector<std::string> seen(8);
        std::vector<std::thread> starters;
        for (std::string& mine : seen) {
            starters.emplace_back([&mine, &folder] {
                const auto made = CertificateAuthority::open_or_create(folder.path, noon);
                mine = made ? (*made)->fingerprint() : made.error().what();
            });
        }
        for (std::thread& starter : starters) starter.join();
        CHECK(std::set<std::string>(seen.begin(), seen.end()) ==
              std::set<std::string>{made_in(folder.path)->fingerprint()});
    }
    SECTION("processes") {
        std::vector<pid_t> children;
        for (int number = 0; number < 6; ++number) {
            const pid_t child = ::fork();
            if (child == 0) {
                const auto made = CertificateAuthority::open_or_create(folder.file("ca"), noon);
                write_file(folder.file(std::to_string(number)), made ? (*made)->fingerprint() : made.error().what());
                ::_exit(0);
            }
            children.push_back(child);
        }
        for (const pid_t child : children) ::waitpid(child, nullptr, 0);
        const std::string fingerprint = made_in(folder.file("ca"))->fingerprint();
        for (int number = 0; number < 6; ++number) CHECK(read_file(folder.file(std::to_string(number))) == fingerprint);
        CHECK(std::distance(std::filesystem::directory_iterator(folder.file("ca")), {}) == 2);
    }
}

TEST_CASE("a key without its certificate is completed, and old trust holds") {
    const Folder folder;
    const auto before = made_in(folder.path);
    std::filesystem::remove(folder.file("ca.pem"));
    const auto none = CertificateAuthority::open(folder.path, noon);
    REQUIRE_FALSE(none);
    CHECK(none.error().kind() == ErrorKind::not_found);
    CHECK_THAT(none.error().what(), Contains(folder.file("ca.pem") + ": the CA's certificate is missing"));

    const auto after = made_in(folder.path, noon + one_day);
    CHECK(after->subject() == before->subject());
    CHECK(after->fingerprint() != before->fingerprint());

    auto interceptor = Interceptor::make(after, {16, [] { return noon; }});
    REQUIRE(interceptor);
    const auto session = (*interceptor)->session_for("a.test", false);
    REQUIRE(session);
    Client client;
    client.trusted = before->pem();
    client.host = "a.test";
    CHECK(meet(client, session->get()).done);
}

TEST_CASE("what is wrong with a CA is said with the file and the cure") {
    const Folder folder;
    const Folder other;
    made_in(folder.path);
    made_in(other.path);
    const std::string key = folder.file("ca.key");
    const std::string pem = folder.file("ca.pem");
    SECTION("the key is missing") {
        std::filesystem::remove(key);
        CHECK_THAT(error_in(folder.path), Contains(key + ": the CA's key is missing: put it back"));
        CHECK(folder.names() == std::vector<std::string>{"ca.pem"});
    }
    SECTION("others may read the key") {
        for (const unsigned mode : {0640U, 0604U, 0660U, 0601U, 0777U}) {
            ::chmod(key.c_str(), mode);
            CHECK_THAT(error_in(folder.path),
                       Contains("others may read the CA's key") && Contains("run chmod 600 " + key));
        }
        ::chmod(key.c_str(), 0400);
        made_in(folder.path);
    }
    SECTION("not a pair") {
        put(key, read_file(other.file("ca.key")), 0600);
        CHECK_THAT(error_in(folder.path), Contains(key + " doesn't belong to " + pem));
    }
    SECTION("no PEM") {
        for (const char* text : {"", "junk", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
            put(pem, text, 0644);
            CHECK_THAT(error_in(folder.path), Contains(pem + ": holds no certificate in PEM form"));
        }
        put(key, "junk", 0600);
        CHECK_THAT(error_in(folder.path), Contains(key + ": holds no private key in PEM form"));
    }
    SECTION("a key behind a passphrase is not asked for at the terminal") {
        put(key, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n", 0600);
        CHECK_THAT(error_in(folder.path), Contains("without a passphrase"));
    }
    SECTION("no CA") {
        const auto leaf_key = make_p256_key();
        const auto leaf = made_in(other.path)->mint("a.test", false, *leaf_key, noon);
        put(pem, to_pem(leaf->certificate), 0644);
        put(key, *to_pem(*leaf_key), 0600);
        CHECK_THAT(error_in(folder.path), Contains(pem + ": not the certificate of a CA"));
    }
    SECTION("expired") {
        CHECK_THAT(error_in(folder.path, noon + 3651 * one_day),
                   Contains(pem + ": expired on 2036-11-28: make a new CA with `opid ca rotate`"));
        made_in(folder.path, noon + 3651 * one_day - std::chrono::seconds(1));
    }
    SECTION("a folder that can't be one") {
        write_file(folder.file("file"), "");
        const auto made = CertificateAuthority::open_or_create(folder.file("file"), noon);
        REQUIRE_FALSE(made);
        CHECK_THAT(made.error().what(), Contains(folder.file("file")));
    }
}

TEST_CASE("rotation puts a new CA in place and keeps the old one") {
    const Folder folder;
    const auto before = made_in(folder.path);
    const std::string old_key = read_file(folder.file("ca.key"));
    const auto rotated = CertificateAuthority::rotate(folder.path, noon);
    REQUIRE(rotated);
    CHECK((*rotated)->fingerprint() != before->fingerprint());
    CHECK((*rotated)->subject() != before->subject());
    CHECK(made_in(folder.path)->fingerprint() == (*rotated)->fingerprint());
    const std::string tag = "ca-" + tag_of(before->fingerprint());
    CHECK(read_file(folder.file(tag + ".pem")) == before->pem());
    CHECK(read_file(folder.file(tag + ".key")) == old_key);
    CHECK(mode_of(folder.file(tag + ".key")) == 0600);
    CHECK(folder.names().size() == 4);
    REQUIRE(CertificateAuthority::rotate(folder.path, noon));
    CHECK(folder.names().size() == 6);
}

TEST_CASE("rotation is the way out of every state") {
    const Folder folder;
    SECTION("nothing there") {}
    SECTION("expired") { made_in(folder.path, noon - 4000 * one_day); }
    SECTION("the key lost") {
        made_in(folder.path);
        std::filesystem::remove(folder.file("ca.key"));
    }
    SECTION("the certificate lost") {
        made_in(folder.path);
        std::filesystem::remove(folder.file("ca.pem"));
    }
    SECTION("rubbish") {
        put(folder.file("ca.pem"), "rubbish", 0644);
        put(folder.file("ca.key"), "rubbish", 0644);
    }
    const auto rotated = CertificateAuthority::rotate(folder.path, noon);
    INFO((rotated ? "" : rotated.error().what()));
    REQUIRE(rotated);
    CHECK(made_in(folder.path)->fingerprint() == (*rotated)->fingerprint());
}

TEST_CASE("rotation overwrites no copy of another CA") {
    const Folder folder;
    const auto before = made_in(folder.path);
    const std::string copy = folder.file("ca-" + tag_of(before->fingerprint()) + ".key");
    write_file(copy, "precious");
    const auto rotated = CertificateAuthority::rotate(folder.path, noon);
    REQUIRE_FALSE(rotated);
    CHECK(rotated.error().kind() == ErrorKind::conflict);
    CHECK_THAT(rotated.error().what(), Contains(copy));
    CHECK(read_file(copy) == "precious");
    CHECK(made_in(folder.path)->fingerprint() == before->fingerprint());
}
