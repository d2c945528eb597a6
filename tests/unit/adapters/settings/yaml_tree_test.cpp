#include <catch2/catch.hpp>

#include "adapters/settings/yaml_tree.hpp"

using namespace opid;

namespace {

std::string problems_of(const std::string& text) {
    std::vector<SettingsProblem> problems;
    read_yaml(text, "f", problems);
    return to_text(problems);
}

}  // namespace

TEST_CASE("a tree knows its lines, columns and quotes") {
    std::vector<SettingsProblem> problems;
    const YamlNode root = read_yaml("a: 1\nb:\n  - \"1\"\n  - ~\nc: |\n  x\nd:\n", "f", problems);
    REQUIRE(problems.empty());
    REQUIRE(root.members.size() == 4);
    CHECK(root.members[0].second.text == "1");
    CHECK_FALSE(root.members[0].second.quoted);
    const YamlNode& list = root.members[1].second;
    REQUIRE(list.items.size() == 2);
    CHECK(list.items[0].quoted);
    CHECK(list.items[0].line == 3);
    CHECK(list.items[0].column == 5);
    CHECK(list.items[1].is_null());
    CHECK(root.members[2].second.quoted);
    CHECK(root.members[2].second.text == "x\n");
    CHECK(root.members[3].second.is_null());
    CHECK(read_yaml("", "f", problems).is_null());
    CHECK(read_yaml("# nothing\n", "f", problems).is_null());
    CHECK(read_yaml("a: |\n  x\n", "f", problems).members[0].second.text == "x\n");
    CHECK(problems.empty());
}

TEST_CASE("what makes YAML dangerous is refused") {
    CHECK(problems_of("a: &x [1]\nb: *x\n") == "f:1: anchors (&name) are not allowed; write the value out\n");
    CHECK(problems_of("a: *x\n").find("f:1: ") == 0);
    CHECK(problems_of("a: !!str 1\n") == "f:1: tags (!name) are not allowed\n");
    CHECK(problems_of("a: !x {b: 1}\n") == "f:1: tags (!name) are not allowed\n");
    CHECK(problems_of("? [a]\n: 1\n") == "f:1: a key has to be a plain word\n");
    CHECK(problems_of("a: 1\n---\nb: 2\n") == "f: a second document begins near line 3; one file holds one\n");
    CHECK(problems_of(std::string(yaml_bytes_max + 1, ' ')) == "f: larger than 1 MiB\n");
    CHECK(problems_of("a: \xff\n") == "f: not a UTF-8 text\n");
    CHECK(problems_of(std::string("a: \0b\n", 6)) == "f: not a UTF-8 text\n");
    CHECK(problems_of("a:\n  b: 1\n c: 2\n").find("f:3: not valid YAML: ") == 0);
    CHECK(problems_of("a: [1, 2\nb: }\n").find("not valid YAML: ") != std::string::npos);
    CHECK(problems_of("a: \"open\n") == "f:1: not valid YAML: illegal EOF in scalar\n");
    CHECK(problems_of("a: 'open\nb: 1\n\n").find("not valid YAML: illegal EOF in scalar") != std::string::npos);
}

TEST_CASE("an alias bomb costs nothing") {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
    }
    CHECK(problems_of(bomb) == "f:1: anchors (&name) are not allowed; write the value out\n");
}

TEST_CASE("depth and number of values are bounded") {
    const std::string deep = std::string(yaml_depth_max + 1, '[') + std::string(yaml_depth_max + 1, ']');
    CHECK(problems_of(deep) == "f:1: nested more than 32 deep\n");
    CHECK(problems_of(std::string(yaml_depth_max, '[') + std::string(yaml_depth_max, ']')).empty());
    CHECK(problems_of(std::string(100000, '[')).find("f:1: ") == 0);
    std::string wide;
    for (int i = 0; i < 120000; ++i) wide += "- 1\n";
    CHECK(problems_of(wide) == "f:100000: more than 100000 values\n");
}
