#include <signal.h>

#include <catch2/catch.hpp>

#include "surfaces/cli/child_process.hpp"

using namespace opid;

namespace {

constexpr Millis patience{60'000};

Captured shell(const std::string& script, Millis time_limit = patience) {
    SignalWatch signals;
    return run_captured({"/bin/sh", "-c", script}, environment_with({}), time_limit, signals);
}

}  // namespace

TEST_CASE("what a program ends with") {
    CHECK(shell("exit 0").exit_code == 0);
    CHECK(shell("exit 7").exit_code == 7);
    CHECK(shell("kill -TERM $$").exit_code == 128 + SIGTERM);
    CHECK(shell("kill -KILL $$").exit_code == 128 + SIGKILL);
    SignalWatch signals;
    CHECK(run_captured({"no-such-program-at-all"}, {}, patience, signals).exit_code == 127);
    CHECK(run_captured({"/dev/null"}, {}, patience, signals).exit_code == 126);
    CHECK(run_captured({"/dev/null/x"}, {}, patience, signals).exit_code == 127);
}

TEST_CASE("what a program says") {
    const Captured both = shell("echo one; echo two >&2; cat; exit 3");
    CHECK(both.out == "one\n");
    CHECK(both.err == "two\n");
    CHECK(both.exit_code == 3);
    CHECK(both.in_time);
    CHECK(shell("head -c 300000 /dev/zero").out.size() == captured_bytes_max);
}

TEST_CASE("a program that takes too long is ended with all that it started") {
    const Captured late = shell("echo begun; sleep 600 & sleep 600", Millis{300});
    CHECK_FALSE(late.in_time);
    CHECK(late.exit_code == 128 + SIGKILL);
    CHECK(late.out == "begun\n");
}

TEST_CASE("a program that leaves its output to another one ends nevertheless") {
    CHECK(shell("sleep 600 & echo done").out == "done\n");
}

TEST_CASE("a signal ends the waiting") {
    SignalWatch signals;
    ::raise(SIGHUP);
    const Captured ended = run_captured({"sleep", "600"}, environment_with({}), patience, signals);
    CHECK(ended.interrupted == SIGHUP);
}

TEST_CASE("signals are kept for wait") {
    SignalWatch signals;
    CHECK(signals.take().number == 0);
    ::raise(SIGTERM);
    const SignalWatch::Signal got = signals.wait(-1);
    CHECK(got.number == SIGTERM);
    CHECK_FALSE(got.from_terminal);
}

TEST_CASE("the environment of a program") {
    SignalWatch signals;
    const auto variables = environment_with({{"PATH", "/changed"}, {"OPID_TEST_NEW", "a=b c"}});
    const Captured got = run_captured({"/bin/sh", "-c", "/usr/bin/env"}, variables, patience, signals);
    CHECK(("\n" + got.out).find("\nPATH=/changed\n") != std::string::npos);
    CHECK(("\n" + got.out).find("\nOPID_TEST_NEW=a=b c\n") != std::string::npos);
    std::size_t paths = 0;
    for (auto at = got.out.find("PATH=/"); at != std::string::npos; at = got.out.find("PATH=/", at + 1)) {
        if (at == 0 || got.out[at - 1] == '\n') ++paths;
    }
    CHECK(paths == 1);
    CHECK(find_program("sh").ends_with("/sh"));
    CHECK(find_program("no-such-program-at-all").empty());
}
