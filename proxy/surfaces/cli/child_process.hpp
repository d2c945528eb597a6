#pragma once
// Programs that a command starts, without a shell between. One thread only: forks.
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"

namespace opid {

using Variables = std::vector<std::pair<std::string, std::string>>;  // name, value

// Empty where it is not set.
std::string environment_variable(const std::string& name);
// Our own environment as NAME=VALUE, with `changed` in it.
std::vector<std::string> environment_with(const Variables& changed);
// The path of an executable file of that name in PATH; empty: none.
std::string find_program(const std::string& name);

// While it lives, the signals that end a program, SIGUSR1, SIGUSR2 and SIGCHLD are kept for wait(). Signals that were
// ignored stay so (nohup). Children start with none of them held back.
class SignalWatch {
public:
    SignalWatch();
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    struct Signal {
        int number = 0;              // 0: none within the time
        bool from_terminal = false;  // then every process of the foreground group has it already
    };
    Signal wait(int milliseconds);  // negative: without end
    Signal take() { return wait(0); }
    int descriptor() const { return descriptor_; }

private:
    int descriptor_ = -1;
};

struct StartOptions {
    std::vector<std::string> command;      // the program (looked for in PATH) and its arguments
    std::vector<std::string> environment;  // NAME=VALUE
    int input = -1;                        // -1: ours
    int output = -1;
    int error = -1;
    enum class Group { ours, own, session } group = Group::ours;
};

struct Started {
    pid_t pid = -1;
    int failure = 0;  // errno of what kept it from starting
};
Started start_program(const StartOptions& options);

// As shells have it: 127 not found, 126 not executable.
int exit_code_of_failure(int failure);
int exit_code_of_status(int status);  // of waitpid; 128 + n for a signal

// False: still running. True: it is reaped, `status` as waitpid gives it.
bool reaped(pid_t pid, int& status);

struct Captured {
    int failure = 0;      // errno of what kept it from starting
    int exit_code = 0;    // as shells have it
    bool in_time = true;  // else it was killed, with all of its process group
    int interrupted = 0;  // the signal that we got meanwhile; it was killed
    std::string out;      // at most captured_bytes_max each
    std::string err;
};
inline constexpr std::size_t captured_bytes_max = 256 * 1024;

// Runs it to its end in a process group of its own, without input.
Captured run_captured(std::vector<std::string> command, std::vector<std::string> environment, Millis time_limit,
                      SignalWatch& signals);

// A descriptor that becomes readable once after the time; closes itself.
class TimeLimit {
public:
    explicit TimeLimit(Millis time);
    ~TimeLimit();
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;
    int descriptor() const { return descriptor_; }

private:
    int descriptor_ = -1;
};

}  // namespace opid
