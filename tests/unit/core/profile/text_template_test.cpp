#include <catch2/catch.hpp>

#include "core/profile/text_template.hpp"

using namespace opid;

namespace {

std::string expand(std::string_view text, TemplateUse use = TemplateUse::target) {
    const auto parsed = TextTemplate::parse(text);
    if (!parsed) return "refused: " + parsed.error().what();
    const PathCaptures captures{{"owner", "me%20too"}, {"dots", ".."}};
    TemplateValues values;
    values.operation_id = "run 1/a&b";
    values.captures = &captures;
    values.media_type = "application/json";
    values.body = R"({"ref":"a/b","n":1.50,"yes":true,"o":{},"e":"","up":".."})";
    const auto expanded = parsed->expand(values, use);
    return expanded ? *expanded : "error: " + expanded.error().what();
}

}  // namespace

TEST_CASE("templates are filled in without leaving their place") {
    CHECK(expand("/x?q={operation_id}&limit=1") == "/x?q=run%201%2Fa%26b&limit=1");
    CHECK(expand("{operation_id}", TemplateUse::plain) == "run 1/a&b");
    CHECK(expand("/repos/{path:owner}/x") == "/repos/me%20too/x");
    CHECK(expand("/x/{request:/ref}") == "/x/a%2Fb");
    CHECK(expand("/x/{request:/n}/{request:/yes}") == "/x/1.50/true");
    CHECK(expand("{{literal}}", TemplateUse::plain) == "{literal}");
    CHECK(expand("/x/{request:/up}") ==
          "error: a value of the template is '.' or '..', which would leave its place in the path");
    CHECK(expand("/x/{path:dots}") ==
          "error: a value of the template is '.' or '..', which would leave its place in the path");
}

TEST_CASE("templates that can't be filled in") {
    CHECK(expand("{provider_key}") == "error: a value that the template needs is empty");
    CHECK(expand("{request:/e}") == "error: a value that the template needs is empty");
    CHECK(expand("{request:/gone}") == "error: the request has no /gone");
    CHECK(expand("{request:/o}") == "error: /o of the request is no string, number or boolean");
    CHECK(expand("{path:gone}") == "error: the path has no {gone}");
    CHECK(expand("{operation}") ==
          "refused: unknown template '{operation}'; there are {operation_id}, {provider_key}, "
          "{path:name} and {request:/pointer}");
    CHECK(expand("a{b") == "refused: a brace is alone; write '{{' or '}}' for a brace itself");
    CHECK(expand("a}b") == "refused: a brace is alone; write '{{' or '}}' for a brace itself");
    CHECK(expand("{request:x}").substr(0, 8) == "refused:");
    CHECK(TextTemplate::parse("/x")->has_placeholder() == false);
    CHECK(TextTemplate::parse("/{path:a}/{path:b}")->captures() == std::vector<std::string>{"a", "b"});
}
