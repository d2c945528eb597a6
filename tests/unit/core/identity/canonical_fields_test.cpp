#include <catch2/catch.hpp>

#include "core/identity/canonical_form.hpp"
#include "core/identity/form_fields.hpp"

using namespace opid;

namespace {

std::string form(std::string_view body, const IntentRules& rules = {}) {
    const auto result = canonical_body("application/x-www-form-urlencoded", body, rules);
    return std::string(to_text(result.form)) + " " + result.bytes;
}

struct PartText {
    const char* head;
    std::string body;
};

std::string multipart_body(const std::string& boundary, const std::vector<PartText>& parts) {
    std::string body;
    for (const auto& part : parts) body += "--" + boundary + "\r\n" + part.head + "\r\n\r\n" + part.body + "\r\n";
    return body + "--" + boundary + "--\r\n";
}

CanonicalBody multipart(const std::string& boundary, const std::string& body, const IntentRules& rules = {}) {
    return canonical_body("multipart/form-data; boundary=" + boundary, body, rules);
}

const PartText note{"Content-Disposition: form-data; name=\"note\"", "scan"};
const PartText file{
    "Content-Disposition: form-data; name=\"file\"; filename=\"report.txt\"\r\nContent-Type: text/plain", "hello"};

}  // namespace

TEST_CASE("form pairs are decoded, sorted by name, in order within a name") {
    CHECK(form("b=2&a=x+y%21&b=1") == "form 1:a=4:x y!,1:b=1:2,1:b=1:1,");
    CHECK(form("b=2&b=1&a=x%20y!") == form("b=2&a=x+y%21&b=1"));
    CHECK(form("b=1&b=2") != form("b=2&b=1"));
    CHECK(form("a") == "form 1:a,");
    CHECK(form("a=") == "form 1:a=0:,");
    CHECK(form("&a=1&&") == form("a=1"));
    CHECK(form("a=b=c") == "form 1:a=3:b=c,");
    CHECK(form("=x") == "form 0:=1:x,");
    CHECK(form("a=%00%ff") == std::string("form 1:a=2:\0\xff,", 14));
    CHECK(form("") == "form ");
    for (const char* broken : {"a=%", "a=%4", "a=%zz", "%g0=1"}) CHECK(form(broken) == std::string("raw ") + broken);
}

TEST_CASE("rules reach form fields by bracket names") {
    IntentRules rules;
    rules.ignore = {*JsonPattern::parse("/metadata/trace_id"), *JsonPattern::parse("/noise"),
                    *JsonPattern::parse("/x[y]")};
    rules.set = {*JsonPattern::parse("/tags"), *JsonPattern::parse("/expand")};
    MoneyRule money;
    money.at = *JsonPattern::parse("/amount");
    money.currency = *JsonPattern::parse("/currency");
    rules.money = {money};
    rules.key_carriers = {*parse_key_carrier("form:request_id"), *parse_key_carrier("body:/meta/key")};
    CHECK(form("metadata[trace_id]=1&metadata%5Ba%5D=2&noise[x][]=3&noise=4&x[y]=5&request_id=6&meta[key]=7", rules) ==
          "form 11:metadata[a]=1:2,");
    CHECK(form("tags[]=b&tags[]=a", rules) == "form 6:tags[]=1:a,6:tags[]=1:b,");
    CHECK(form("tags[0]=b&tags[1]=a", rules) == form("tags[]=a&tags[]=b", rules));
    CHECK(form("expand=b&expand=a", rules) == form("expand=a&expand=b", rules));
    CHECK(form("tags[]=a&tags[]=a", rules) != form("tags[]=a", rules));
    CHECK(form("amount=1050&currency=usd", rules) == "form 6:amount=4:10.5,8:currency=3:usd,");
    CHECK(form("amount=10.50&currency=usd", rules) == form("amount=1050&currency=usd", rules));
    CHECK(form("amount=1050", rules) == "form 6:amount=4:1050,");
}

TEST_CASE("names become paths and back") {
    CHECK(field_path("a[b][]") == std::vector<std::string>{"a", "b", ""});
    CHECK(field_path("a[b") == std::vector<std::string>{"a[b"});
    CHECK(field_path("[a]") == std::vector<std::string>{"[a]"});
    CHECK(field_path("a[b]c]") == std::vector<std::string>{"a[b]c]"});
    CHECK(field_path("") == std::vector<std::string>{""});
    CHECK(field_name(*JsonPointer::parse("/metadata/operation_id")) == "metadata[operation_id]");
    CHECK(percent_encoded("a b+~/\xff") == "a%20b%2B~%2F%FF");
}

TEST_CASE("multipart bodies compare by their parts, not by the boundary") {
    const auto first = multipart("AaB03x", multipart_body("AaB03x", {note, file}));
    CHECK(first.form == BodyForm::multipart);
    CHECK(first == multipart("ZzY99q", multipart_body("ZzY99q", {note, file})));
    CHECK(first == multipart("\"q q\"", multipart_body("q q", {note, file})));
    PartText other = file;
    other.body = "hellO";
    CHECK(first != multipart("b", multipart_body("b", {note, other})));
    other = file;
    other.head = "Content-Disposition: form-data; name=\"file\"; filename=\"other.txt\"\r\nContent-Type: text/plain";
    CHECK(first != multipart("b", multipart_body("b", {note, other})));
    other.head = "content-type:text/plain \r\nCONTENT-DISPOSITION:  form-data; name=\"file\"; filename=\"report.txt\"";
    CHECK(first == multipart("b", multipart_body("b", {note, other})));
    CHECK(first == multipart("b", multipart_body("b", {file, note})));
    PartText second_note = note;
    second_note.body = "again";
    CHECK(multipart("b", multipart_body("b", {note, file, second_note})) ==
          multipart("b", multipart_body("b", {note, second_note, file})));
    CHECK(multipart("b", multipart_body("b", {note, second_note})) !=
          multipart("b", multipart_body("b", {second_note, note})));
    const auto mixed = [](const std::vector<PartText>& parts) {
        return canonical_body("multipart/mixed; boundary=b", multipart_body("b", parts), {});
    };
    CHECK(mixed({note, file}) != mixed({file, note}));
    PartText binary = file;
    binary.body = std::string("\0\r\n--\r\n\xff", 9);
    CHECK(multipart("b", multipart_body("b", {binary})).form == BodyForm::multipart);
    CHECK(multipart("b", "--b--\r\n").bytes.empty());
}

TEST_CASE("a multipart body that is not strictly one is raw") {
    const std::string good = multipart_body("b", {note});
    CHECK(canonical_body("multipart/form-data", good, {}).form == BodyForm::raw);
    for (const std::string& bad :
         {std::string(), std::string("--b\r\n"), good.substr(0, good.size() - 5), "--b\n" + good.substr(5),
          std::string("--b\r\nno colon\r\n\r\nx\r\n--b--"), std::string("--bx\r\n\r\nx\r\n--b--"),
          std::string("--b\r\n--b--\r\n"), std::string("--b--x")}) {
        INFO(bad);
        CHECK(multipart("b", bad) == CanonicalBody{BodyForm::raw, bad});
    }
    CHECK(multipart("b", "pre\r\n" + good).form == BodyForm::multipart);
    CHECK(multipart("b", "pre\r\n" + good) != multipart("b", good));
    CHECK(multipart("b", good + "post") != multipart("b", good));
    CHECK(multipart("b", "--b\r\n\r\nx\r\n--b--").bytes == "0:=1:x,");
}

TEST_CASE("nested multipart ignores the inner boundary too") {
    const auto outer = [](const std::string& inner, const std::string& text) {
        const std::string head = "Content-Type: multipart/mixed; boundary=" + inner;
        return multipart_body(
            "o", {PartText{head.c_str(), multipart_body(inner, {PartText{"Content-Type: text/plain", text}})}});
    };
    CHECK(multipart("o", outer("i1", "x")) == multipart("o", outer("i2", "x")));
    CHECK(multipart("o", outer("i1", "x")) != multipart("o", outer("i1", "y")));
}

TEST_CASE("rules reach multipart parts by name") {
    IntentRules rules;
    rules.ignore = {*JsonPattern::parse("/note")};
    rules.trim = {*JsonPattern::parse("/title"), *JsonPattern::parse("/file")};
    const PartText title{"Content-Disposition: form-data; name=title", " x "};
    const PartText plain{"Content-Disposition: form-data; name=title", "x"};
    CHECK(multipart("b", multipart_body("b", {note, title}), rules) ==
          multipart("b", multipart_body("b", {plain}), rules));
    PartText padded = file;
    padded.body = " hello";
    CHECK(multipart("b", multipart_body("b", {padded}), rules) != multipart("b", multipart_body("b", {file}), rules));
}

TEST_CASE("media types") {
    CHECK(media_essence(" Application/JSON ; charset=utf-8") == "application/json");
    CHECK(media_parameter("multipart/form-data; charset=\"a;b\\\"\" ; Boundary=\"x y\"", "boundary") == "x y");
    CHECK(media_parameter("a/b; boundary = z", "boundary") == "z");
    CHECK(media_parameter("a/b;boundary", "boundary").empty());
    CHECK(media_parameter("a/b", "boundary").empty());
    CHECK(media_parameter("", "x").empty());
    CHECK(is_json_media_type("application/vnd.api+json"));
    CHECK_FALSE(is_json_media_type("application/jsonl"));
}
