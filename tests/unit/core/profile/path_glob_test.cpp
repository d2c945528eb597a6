#include <catch2/catch.hpp>

#include "core/profile/path_glob.hpp"
#include "core/profile/status_set.hpp"

using namespace opid;

namespace {

std::string captured(std::string_view glob_text, std::string_view path) {
    std::string error;
    const auto glob = PathGlob::parse(glob_text, error);
    if (!glob) return "refused: " + error;
    PathCaptures captures;
    if (!glob->matches(path, &captures)) return "no";
    std::string text = "yes";
    for (const auto& [name, value] : captures) text += " " + name + "=" + value;
    return text;
}

}  // namespace

TEST_CASE("path patterns match whole segments") {
    struct Row {
        const char* glob;
        const char* path;
        const char* expected;
    };
    const Row rows[] = {
        {"/", "/", "yes"},
        {"/", "/a", "no"},
        {"/v1/refunds", "/v1/refunds", "yes"},
        {"/v1/refunds", "/v1/refunds/", "no"},
        {"/v1/refunds", "/v1/Refunds", "no"},
        {"/v1/refunds", "/v1/refund%73", "no"},
        {"/v1/*/search", "/v1/charges/search", "yes"},
        {"/v1/*/search", "/v1/search", "no"},
        {"/v1/*/search", "/v1//search", "no"},
        {"/v1/*/search", "/v1/a/b/search", "no"},
        {"/v1/**", "/v1", "yes"},
        {"/v1/**", "/v1/", "yes"},
        {"/v1/**", "/v1/a/b/c", "yes"},
        {"/v1/**", "/v2/a", "no"},
        {"/**", "/", "yes"},
        {"/**", "/a/b", "yes"},
        {"/**/search", "/search", "yes"},
        {"/**/search", "/a/b/search", "yes"},
        {"/**/search", "/a/search/b", "no"},
        {"/a/**/b/**/c", "/a/b/c", "yes"},
        {"/a/**/b/**/c", "/a/x/b/y/b/c/z/c", "yes"},
        {"/a/**/b/**/c", "/a/x/y/c", "no"},
        {"/repos/{owner}/{repo}/pulls", "/repos/me/it/pulls", "yes owner=me repo=it"},
        {"/repos/{owner}/{repo}/pulls", "/repos/me/a%2Fb/pulls", "yes owner=me repo=a%2Fb"},
        {"/**/x/{id}", "/x/1/x/2", "yes id=2"},
        {"/**/x/{id}", "/x/x/x", "yes id=x"},
        {"v1", "/v1", "refused: a path pattern begins with '/'"},
        {"", "/v1", "refused: a path pattern begins with '/'"},
        {"/a?b", "/a", "refused: a path pattern has no query; use match.query"},
        {"/a*", "/ab", "refused: 'a*': '*', '**' and '{name}' stand for whole segments"},
        {"/{a}b", "/ab", "refused: '{a}b': '*', '**' and '{name}' stand for whole segments"},
        {"/{}", "/a", "refused: '{}': '*', '**' and '{name}' stand for whole segments"},
        {"/{a b}", "/a", "refused: '{a b}': a capture's name has letters, digits, '_' and '-'"},
        {"/{a}/{a}", "/a/b", "refused: '{a}' stands there twice"},
    };
    for (const Row& row : rows) {
        INFO(row.glob << " on " << row.path);
        CHECK(captured(row.glob, row.path) == row.expected);
    }
}

TEST_CASE("a pattern with many ** stays cheap on a long path") {
    std::string glob_text;
    for (int i = 0; i < 50; ++i) glob_text += "/**/a";
    std::string path;
    for (int i = 0; i < 5000; ++i) path += "/a";
    path += "/b";
    CHECK(captured(glob_text, path) == "no");
}

TEST_CASE("the other reading of a path") {
    const auto other = [](std::string_view path) { return other_reading_of(path).value_or("same"); };
    CHECK(other("/v1/refunds") == "same");
    CHECK(other("/") == "same");
    CHECK(other("/v1/refund%73") == "/v1/refunds");
    CHECK(other("/v1/a%2Fb") == "same");
    CHECK(other("/v1/%2e%2E/admin") == "/admin");
    CHECK(other("/v1/x/..%2Fadmin") == "/v1/admin");
    CHECK(other("/v1/x%5c..%5cadmin") == "/v1/admin");
    CHECK(other("/v1/..x%2Fadmin") == "same");
    CHECK(other("/v1/x\\..\\admin") == "/v1/admin");
    CHECK(other("/v1/x/..;a=1/admin") == "/v1/admin");
    CHECK(other("/v1/x/..%3B/admin") == "/v1/admin");
    CHECK(other("/v1/x;a=1/admin") == "same");
    CHECK(other("/v1/a\\b") == "same");
    CHECK(other("/v1/./x/../refunds") == "/v1/refunds");
    CHECK(other("//v1//refunds/") == "/v1/refunds");
    CHECK(other("/../..") == "/");
    CHECK(other("/a%") == "same");
    CHECK(other("/.well-known/x") == "same");
}

TEST_CASE("status sets") {
    const auto set = StatusSet::parse({"2xx", "402", "500-504"});
    REQUIRE(set);
    CHECK(set->text() == "2xx, 402, 500-504");
    for (const int status : {200, 299, 402, 500, 504}) CHECK(set->contains(status));
    for (const int status : {199, 300, 401, 403, 499, 505, 0}) CHECK_FALSE(set->contains(status));
    for (const char* word : {"6xx", "0xx", "2x", "abc", "99", "600", "4020", "-1", "", "504-500", "2xx-3xx", "500-"}) {
        INFO(word);
        CHECK_FALSE(StatusSet::parse({word}));
    }
    CHECK_FALSE(StatusSet().contains(200));
}
