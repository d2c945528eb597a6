#include <catch2/catch.hpp>

#include "surfaces/cli/child_process.hpp"
#include "surfaces/cli/shell_format.hpp"

using namespace opid;

namespace {

std::string text_of(const std::string& value, ShellFormat format) {
    const Result<std::string> text = shell_text({{"X", value}}, format);
    return text ? *text : "refused";
}

}  // namespace

TEST_CASE("every format quotes exactly") {
    struct Row {
        const char* value;
        const char* sh;
        const char* fish;
        const char* powershell;
        const char* dotenv;
        const char* docker;
    };
    const Row table[] = {
        {"", "export X=''\n", "set -gx X ''\n", "$env:X = ''\n", "X=\n", "X=\n"},
        {"/a/b.pem", "export X='/a/b.pem'\n", "set -gx X '/a/b.pem'\n", "$env:X = '/a/b.pem'\n", "X=/a/b.pem\n",
         "X=/a/b.pem\n"},
        {"/a b", "export X='/a b'\n", "set -gx X '/a b'\n", "$env:X = '/a b'\n", "X='/a b'\n", "X=/a b\n"},
        {"it's", "export X='it'\\''s'\n", "set -gx X 'it\\'s'\n", "$env:X = 'it''s'\n", "X=\"it's\"\n", "X=it's\n"},
        {"a\"b", "export X='a\"b'\n", "set -gx X 'a\"b'\n", "$env:X = 'a\"b'\n", "X='a\"b'\n", "X=a\"b\n"},
        {"$HOME `x`", "export X='$HOME `x`'\n", "set -gx X '$HOME `x`'\n", "$env:X = '$HOME `x`'\n", "X='$HOME `x`'\n",
         "X=$HOME `x`\n"},
        {"a\\b", "export X='a\\b'\n", "set -gx X 'a\\\\b'\n", "$env:X = 'a\\b'\n", "refused", "X=a\\b\n"},
        {"'$", "export X=''\\''$'\n", "set -gx X '\\'$'\n", "$env:X = '''$'\n", "refused", "X='$\n"},
        {"#x", "export X='#x'\n", "set -gx X '#x'\n", "$env:X = '#x'\n", "X='#x'\n", "X=#x\n"},
        {"\u2019x", "export X='\u2019x'\n", "set -gx X '\u2019x'\n", "$env:X = '\u2019\u2019x'\n", "X='\u2019x'\n",
         "X=\u2019x\n"},
    };
    for (const Row& row : table) {
        INFO(row.value);
        CHECK(text_of(row.value, ShellFormat::sh) == row.sh);
        CHECK(text_of(row.value, ShellFormat::fish) == row.fish);
        CHECK(text_of(row.value, ShellFormat::powershell) == row.powershell);
        CHECK(text_of(row.value, ShellFormat::dotenv) == row.dotenv);
        CHECK(text_of(row.value, ShellFormat::docker) == row.docker);
    }
}

TEST_CASE("line ends are refused, and the text says where") {
    for (const ShellFormat format :
         {ShellFormat::sh, ShellFormat::fish, ShellFormat::powershell, ShellFormat::dotenv, ShellFormat::docker}) {
        CHECK(text_of("a\nb", format) == "refused");
        CHECK(text_of("a\r", format) == "refused");
    }
    const Result<std::string> text = shell_text({{"GOOD", "x"}, {"BAD", "a\nb"}}, ShellFormat::sh);
    REQUIRE(!text);
    CHECK(text.error().what() == "BAD: its value has a line end");
}

TEST_CASE("a shell reads back what was written") {
    for (const char* value :
         {"plain", "it's", "''", "a b  c", "$HOME", "`id`", "\\", "\\'", "\"", "*", "~", "!x", "\u00e4"}) {
        SignalWatch signals;
        const std::string script = text_of(value, ShellFormat::sh) + "printf %s \"$X\"";
        const Captured got = run_captured({"/bin/sh", "-c", script}, environment_with({}), Millis{30'000}, signals);
        CHECK(got.out == value);
    }
}

TEST_CASE("the formats by name") {
    CHECK(shell_format_from("sh") == ShellFormat::sh);
    CHECK(shell_format_from("docker") == ShellFormat::docker);
    CHECK(shell_format_from("dotenv") == ShellFormat::dotenv);
    CHECK(!shell_format_from("bash"));
    CHECK(!shell_format_from(""));
}
