#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/system/durable_file.hpp"
#include "adapters/system/system_entropy.hpp"
#include "app/data_folder.hpp"
#include "app/policy_desk.hpp"

using namespace opid;

namespace {

struct Folder {
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "opid-unit-XXXXXX").string();
        path = ::mkdtemp(pattern.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    void write(const std::string& name, const std::string& text) { std::ofstream(path + "/" + name) << text; }
    unsigned mode(const std::string& name) {
        struct stat found {};
        REQUIRE(::stat((path + "/" + name).c_str(), &found) == 0);
        return found.st_mode & 0777;
    }
    std::string path;
};

}  // namespace

TEST_CASE("the data folder is private") {
    Folder folder;
    REQUIRE(make_data_folder(folder.path + "/a/data"));
    CHECK(folder.mode("a/data") == 0700);
    CHECK(folder.mode("a/data/spool") == 0700);
    REQUIRE(make_data_folder(folder.path + "/a/data"));
    folder.write("file", "");
    CHECK_FALSE(make_data_folder(folder.path + "/file"));
}

TEST_CASE("epochs grow, whatever the clock and the file say") {
    Folder folder;
    CHECK(*next_epoch(folder.path, from_unix_ms(1000)) == 1000);
    CHECK(*next_epoch(folder.path, from_unix_ms(1000)) == 1001);
    CHECK(*next_epoch(folder.path, from_unix_ms(5)) == 1002);
    CHECK(*next_epoch(folder.path, from_unix_ms(9000)) == 9000);
    folder.write("epoch", "damaged");
    CHECK(*next_epoch(folder.path, from_unix_ms(9001)) == 9001);
    CHECK(*next_epoch(folder.path, from_unix_ms(-5)) == 9002);
    CHECK(read_small_file(folder.path + "/epoch", 100).value() == "9002");
    CHECK_FALSE(next_epoch(folder.path + "/missing", from_unix_ms(1)));
}

TEST_CASE("the node keeps its first name unless told") {
    Folder folder;
    const std::string first = *node_name(folder.path, "");
    CHECK_FALSE(first.empty());
    CHECK(*node_name(folder.path, "") == first);
    CHECK(*node_name(folder.path, "given") == "given");
    CHECK(*node_name(folder.path, "") == first);
}

TEST_CASE("the admin token is made once, for its owner alone") {
    Folder folder;
    SystemEntropy entropy;
    const Result<Secret> first = admin_token(folder.path, entropy);
    REQUIRE(first);
    CHECK(first->reveal().size() >= 40);
    CHECK(folder.mode("admin.token") == 0600);
    CHECK(admin_token(folder.path, entropy)->reveal() == first->reveal());
    folder.write("admin.token", "short\n");
    CHECK_FALSE(admin_token(folder.path, entropy));
}

TEST_CASE("small files are bounded") {
    Folder folder;
    folder.write("x", "12345\r\n");
    CHECK(read_small_file(folder.path + "/x", 7).value() == "12345");
    CHECK_FALSE(read_small_file(folder.path + "/x", 6));
    CHECK(read_small_file(folder.path + "/y", 6).error().kind() == ErrorKind::not_found);
    CHECK(*create_durably(folder.path + "/x", "other", 0600) == false);
    CHECK(read_small_file(folder.path + "/x", 7).value() == "12345");
}

TEST_CASE("a reload is all or nothing") {
    Folder folder;
    folder.write("good.yaml",
                 "provider: demo\nhosts: [api.demo.test]\nupstream: http://127.0.0.1:1\nkey: {carrier: none}\n");
    PolicyDesk desk({folder.path});
    REQUIRE(desk.reload().changed);
    const auto before = desk.board().generation();
    CHECK(desk.board().current()->by_name("demo"));
    folder.write("good.yaml", "provider: other\nhosts: [api.demo.test]\n");
    folder.write("bad.yaml", "provider: bad\nhost: [x]\n");
    const ReloadReport report = desk.reload();
    CHECK_FALSE(report.changed);
    REQUIRE_FALSE(report.problems.empty());
    CHECK(report.problems[0].find("bad.yaml:") != std::string::npos);
    CHECK(desk.board().current()->by_name("demo"));
    CHECK_FALSE(desk.board().current()->by_name("other"));
    CHECK(desk.board().generation() == before);
    std::filesystem::remove(folder.path + "/bad.yaml");
    CHECK(desk.reload().changed);
    CHECK(desk.board().current()->by_name("other"));
}
