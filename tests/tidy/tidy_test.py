"""Each check finds what it is there for, and leaves good code alone."""
import tempfile
import unittest
from pathlib import Path

import bans
import coroutines
import docs
import layers
import lengths
from source import Tree, strip_cpp

LAYERS = """
base:
core/http: base
engine: base core engine/ports
engine/ports: base core
adapters/net: base core engine/ports
adapters/store: base
adapters/store/one: adapters/store/*
adapters/store/two: base
lib openssl openssl/ adapters/net
lib asio boost/asio +engine
"""


def findings(check, **files):
    """Runs a check on a tree of the given files; `__` in a name stands for `/`, `_D_` for `.`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name.replace("__", "/").replace("_D_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return [f"{found.rule}: {found.text}" for found in check(Tree(folder))]


class Stripping(unittest.TestCase):
    def test_blanks_comments_and_literals(self):
        for text, expected in [
            ('a // b\nc', 'a  \nc'),
            ('a /* b\n */ c', 'a  \n c'),
            ('f("std::cout \\" x")', 'f("")'),
            ("f('\"'); g()", "f(' '); g()"),
            ("1'000'000 + 'x'", "1'000'000 + ' '"),
            ('R"(a\n{ " )" }', 'R"(a\n{ " )" }'.replace('R"(a\n{ " )"', '""\n')),
            ('R"x(a)" b)x" c', '"" c'),
            ('#include "a/b.hpp"', '#include "a/b.hpp"'),
        ]:
            self.assertEqual(strip_cpp(text), expected, text)


class Layers(unittest.TestCase):
    def run_on(self, **files):
        files = {"proxy__layers_D_txt": LAYERS, **files}
        return [text for text in findings(layers.check, **files) if not text.startswith("dead file")]

    def test_inward_only(self):
        head = "#pragma once\n"
        self.assertEqual(self.run_on(proxy__base__a_D_hpp=head,
                                     proxy__core__http__b_D_hpp=head + '#include "base/a.hpp"\n'), [])
        self.assertIn("core/http may not include", self.run_on(
            proxy__engine__a_D_hpp=head, proxy__core__http__b_D_hpp=head + '#include "engine/a.hpp"\n')[0])
        self.assertIn("adapters/net may not include", self.run_on(
            proxy__engine__a_D_hpp=head, proxy__adapters__net__b_D_cpp='#include "engine/a.hpp"\n')[0])
        self.assertEqual(self.run_on(
            proxy__adapters__store__a_D_hpp=head,
            proxy__adapters__store__one__b_D_cpp='#include "adapters/store/a.hpp"\n#include "x.pb.h"\n'), [])
        self.assertIn("adapters/store/one may not include", self.run_on(
            proxy__adapters__store__two__a_D_hpp=head,
            proxy__adapters__store__one__b_D_cpp='#include "adapters/store/two/a.hpp"\n')[0])
        self.assertIn("has no row", self.run_on(proxy__stray__a_D_cpp="")[0])
        self.assertIn("is no file", self.run_on(proxy__base__a_D_cpp='#include "a.hpp"\n')[0])

    def test_libraries(self):
        self.assertEqual(self.run_on(proxy__adapters__net__a_D_cpp="#include <openssl/ssl.h>\n"), [])
        self.assertIn(".cpp files", self.run_on(
            proxy__adapters__net__a_D_hpp="#pragma once\n#include <openssl/ssl.h>\n")[0])
        self.assertIn("used only in", self.run_on(proxy__base__a_D_cpp="#include <openssl/ssl.h>\n")[0])
        self.assertIn("used only in", self.run_on(proxy__base__a_D_cpp="#include <boost/asio.hpp>\n")[0])
        self.assertEqual(self.run_on(proxy__engine__a_D_hpp="#pragma once\n#include <boost/asio/awaitable.hpp>\n"), [])

    def test_links(self):
        lists = "opid_library(core_http SOURCES a.cpp DEPS {})"
        self.assertEqual(self.run_on(proxy__core__http__CMakeLists_D_txt=lists.format("base")), [])
        self.assertIn("may not link", self.run_on(proxy__core__http__CMakeLists_D_txt=lists.format("engine"))[0])

    def test_dead_files_and_guards(self):
        found = findings(layers.check, proxy__layers_D_txt=LAYERS, proxy__base__a_D_cpp="", proxy__base__b_D_hpp="")
        self.assertEqual(sorted(text.split(":")[0] for text in found), ["dead file", "dead file", "guard"])
        self.assertEqual(findings(layers.check, proxy__layers_D_txt=LAYERS, proxy__base__b_D_hpp="#pragma once\n",
                                  proxy__base__a_D_cpp='#include "base/b.hpp"\n',
                                  proxy__base__CMakeLists_D_txt="opid_library(base SOURCES a.cpp)"), [])


class Bans(unittest.TestCase):
    def test_each_kind(self):
        for rule, text in [
            ("real clock", "auto t = std::chrono::steady_clock::now();"),
            ("real timer", "boost::asio::steady_timer timer(x);"),
            ("real chance", "std::random_device device;"),
            ("detached", "co_spawn(e, f(), boost::asio::detached);"),
            ("thread", "std::jthread worker;"),
            ("shared from this", "auto self = shared_from_this();"),
            ("environment", 'auto home = std::getenv("HOME");'),
            ("stdout", 'std::cout << "x";'),
            ("capture all", "auto f = [=] { return a; };"),
            ("catch all", "try { f(); } catch (...) { }"),
            ("source location", "auto l = std::source_location::current();"),
            ("unfinished", "// FIXME later"),
            ("foreign place", "// see /work/elsewhere"),
            ("ticket number", "// as of issue #12"),
        ]:
            found = findings(bans.check, proxy__engine__a_D_cpp=text)
            self.assertEqual([line.split(":")[0] for line in found], [rule], text)

    def test_places_comments_and_waivers(self):
        clock = "auto t = std::chrono::steady_clock::now();"
        self.assertEqual(findings(bans.check, proxy__adapters__system__a_D_cpp=clock), [])
        self.assertEqual(findings(bans.check, tests__support__a_D_cpp=clock), [])
        self.assertEqual(findings(bans.check, proxy__base__a_D_cpp="try { f(); } catch (...) { g(); throw; }"), [])
        self.assertEqual(findings(bans.check, proxy__base__a_D_cpp="// not steady_clock::now, ever"), [])
        self.assertEqual(findings(bans.check, proxy__base__a_D_cpp=clock + "  // tidy: allow(real clock) start-up"), [])
        self.assertEqual(findings(bans.check, proxy__base__a_D_cpp="// tidy: allow(real clock) start-up\n" + clock), [])
        self.assertEqual(len(findings(bans.check, proxy__base__a_D_cpp=clock + "  // tidy: allow(real clock)")), 1)
        self.assertEqual(len(findings(bans.check, proxy__base__a_D_cpp=clock + "  // tidy: allow(thread) so")), 1)


class Coroutines(unittest.TestCase):
    def run_on(self, body, head="task<int> f(int x) {\n"):
        return findings(coroutines.check, proxy__engine__a_D_cpp=head + body + "\n}\n")

    def test_good_shapes(self):
        for body in [
            "auto x = co_await f();",
            "co_await send(id, options);",
            "co_return co_await send(id);",
            "if (!co_await store.find(id)) co_return 1;",
            "while (auto next = co_await queue.take()) { use(Args{*next}); }",
            "if (auto r = co_await f(); r) { g(Args{1}); }",
            "for (;;) { co_await f(); }",
            "switch (x) { case 1: { co_await f(); break; } default: co_await g(); }",
            "try { co_await f(); } catch (const E& e) { g({1}); }",
            "const Args args{1, 2};\nco_await f(args);",
            "auto run = [](int a) -> awaitable<void> { co_await f(a); };",
            "auto run = [&]() -> boost::asio::awaitable<Result<std::map<int, int>>> { co_await f(); };",
            "co_spawn(e, [p]() mutable -> awaitable<void> { co_await f(p); }, handler);",
            "int y = a ? b : c;\nco_await f();",
            "else_case: co_await f();",
            "if (a) co_await f(); else { co_await g(); }",
        ]:
            self.assertEqual(self.run_on(body), [], body)

    def test_bad_shapes(self):
        for body, what in [
            ("auto x = Args{co_await a(), 1};", "inside braces"),
            ("Args x{1, co_await a()};", "inside braces"),
            ("return_value = {co_await a()};", "inside braces"),
            ("auto x = c ? co_await a() : b;", "beside ?:"),
            ("auto x = co_await c() ? T(1) : T(2);", "beside ?:"),
            ("co_await f(Args{1});", "braced temporary"),
            ("co_await f({1});", "braced temporary"),
            ("co_await f({.timeout = 5});", "braced temporary"),
            ("plain(Args{1}, co_await a());", "braced temporary"),
            ("plain(co_await a(), co_await b());", "two co_await"),
            ("if (x) { } auto y = co_await f(Args{1});", "braced temporary"),
        ]:
            found = self.run_on(body)
            self.assertTrue(found and what in found[0], f"{body} -> {found}")


class Lengths(unittest.TestCase):
    def names(self, code):
        return [(name, length) for name, _, length in lengths.cpp_functions(strip_cpp(code))]

    def test_finds_functions(self):
        self.assertEqual(self.names("""
namespace a {
namespace {
constexpr int table[] = {1, 2};
struct S : Base { int x{3}; void f() const { g(); }
    S() : a_{1}, b_{f(2)} {
        h();
    }
};
}
enum class E : int { one, two };
template <class T> requires std::is_class_v<T>
Result<T> A::name(T x)
{
    if (x) { }
    auto l = [](int y) { return y; };
}
bool operator==(const A& a, const B& b) { return true; }
}
"""), [("f", 1), ("S", 3), ("A::name", 6), ("operator==", 1)])

    def run_on(self, ratchet, lines):
        code = "void f() {\n" + "g();\n" * (lines - 2) + "}\n"
        return findings(lengths.check, proxy__a_D_cpp=code, tests__tidy__ratchet_D_txt=ratchet)

    def test_ratchet(self):
        self.assertEqual(self.run_on("", 70), [])
        self.assertIn("71 lines, 70 are allowed", self.run_on("", 71)[0])
        self.assertEqual(self.run_on("function proxy/a.cpp f 71\n", 71), [])
        self.assertIn("72 lines, 71 are allowed", self.run_on("function proxy/a.cpp f 71\n", 72)[0])
        self.assertIn("no longer needed", self.run_on("function proxy/a.cpp f 71\n", 70)[0])
        self.assertEqual([text.split(":")[0] for text in self.run_on("", 401)], ["file length", "function length"])

    def test_columns(self):
        found = findings(lengths.check, proxy__a_D_cpp="// " + "x" * 120, tests__tidy__ratchet_D_txt="")
        self.assertEqual(found, ["columns: 123 columns, 120 are allowed"])


class Docs(unittest.TestCase):
    def test_titles_and_links(self):
        self.assertEqual(findings(docs.check, a_D_md="# A b\n[x](b.md#c-d) [y](#a-b) [z](https://e.org)\n`[n](no)`\n",
                                  b_D_md="# B\n## C D\n"), [])
        self.assertIn("begins with", findings(docs.check, a_D_md="text")[0])
        self.assertIn("leads nowhere", findings(docs.check, a_D_md="# A\n[x](no.md)")[0])
        self.assertIn("no such heading", findings(docs.check, a_D_md="# A\n[x](#no)")[0])

    def test_yaml(self):
        self.assertEqual(findings(docs.check, policies__a_D_yaml="a: [1]\n"), [])
        self.assertTrue(findings(docs.check, policies__a_D_yaml="a: [1\n")[0].startswith("yaml"))
        self.assertIn("key twice", findings(docs.check, policies__a_D_yaml="a: 1\na: 2\n")[0])

    def test_dockerfile(self):
        self.assertEqual(findings(docs.check, Dockerfile="COPY a b ./\nCOPY --from=x /y /z\n", a="", b="",
                                  _D_dockerignore="*\n!a\n!b\n"), [])
        self.assertIn("does not exist", findings(docs.check, Dockerfile="COPY a ./\n", _D_dockerignore="!a")[0])
        self.assertIn("keeps a", findings(docs.check, Dockerfile="COPY a ./\n", a="", _D_dockerignore="*")[0])
