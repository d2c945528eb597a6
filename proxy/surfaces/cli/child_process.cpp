#include "surfaces/cli/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace opid {
namespace {

sigset_t watched_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) sigaddset(&set, number);
    return set;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
}

void replace_descriptor(int from, int to) {
    if (from >= 0) ::dup2(from, to);
}

// In the child, up to exec. Reports an errno through `report`, which exec closes.
[[noreturn]] void become(const StartOptions& options, char* const* arguments, char** variables, int report) {
    if (options.group == StartOptions::Group::own) ::setpgid(0, 0);
    if (options.group == StartOptions::Group::session) ::setsid();
    replace_descriptor(options.input, STDIN_FILENO);
    replace_descriptor(options.output, STDOUT_FILENO);
    replace_descriptor(options.error, STDERR_FILENO);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::execvpe(arguments[0], arguments, variables);
    const int failure = errno;
    const auto written = ::write(report, &failure, sizeof failure);
    static_cast<void>(written);
    ::_exit(exit_code_of_failure(failure));
}

// Takes what is there. False: the other side has closed.
bool read_available(int descriptor, std::string& out) {
    char bytes[8192];
    for (;;) {
        const auto count = ::read(descriptor, bytes, sizeof bytes);
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        if (count == 0) return false;
        const std::size_t room = captured_bytes_max - std::min(captured_bytes_max, out.size());
        out.append(bytes, std::min(room, static_cast<std::size_t>(count)));
    }
}

struct Pipe {
    Pipe() {
        int ends[2] = {-1, -1};
        if (::pipe2(ends, O_CLOEXEC) == 0) {
            read = ends[0];
            write = ends[1];
        }
    }
    ~Pipe() {
        close(read);
        close(write);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    static void close(int& end) {
        if (end >= 0) ::close(end);
        end = -1;
    }
    int read = -1;
    int write = -1;
};

}  // namespace

std::string environment_variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> environment_with(const Variables& changed) {
    std::vector<std::string> out;
    for (char** at = environ; *at != nullptr; ++at) {
        const std::string_view entry(*at);
        const std::string_view name = entry.substr(0, entry.find('='));
        const bool replaced = std::any_of(changed.begin(), changed.end(),
                                          [name](const auto& variable) { return variable.first == name; });
        if (!replaced) out.emplace_back(entry);
    }
    for (const auto& [name, value] : changed) out.push_back(name + "=" + value);
    return out;
}

std::string find_program(const std::string& name) {
    const std::string folders = environment_variable("PATH");
    std::size_t begin = 0;
    while (begin <= folders.size()) {
        const std::size_t end = std::min(folders.find(':', begin), folders.size());
        const std::string path = (end == begin ? "." : folders.substr(begin, end - begin)) + "/" + name;
        struct stat found {};
        if (::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && ::access(path.c_str(), X_OK) == 0)
            return path;
        begin = end + 1;
    }
    return {};
}

SignalWatch::SignalWatch() {
    const sigset_t set = watched_signals();
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    ::signal(SIGCHLD, SIG_DFL);  // ignored, children would vanish without a status
    descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalWatch::~SignalWatch() {
    while (take().number != 0) {  // or it would end us now, with what we were asked to wait for already over
    }
    if (descriptor_ >= 0) ::close(descriptor_);
    const sigset_t set = watched_signals();
    ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

SignalWatch::Signal SignalWatch::wait(int milliseconds) {
    pollfd poll{descriptor_, POLLIN, 0};
    if (::poll(&poll, 1, milliseconds) <= 0) return {};
    signalfd_siginfo info{};
    if (::read(descriptor_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return {};
    Signal signal;
    signal.number = static_cast<int>(info.ssi_signo);
    signal.from_terminal = info.ssi_code == SI_KERNEL;
    return signal;
}

Started start_program(const StartOptions& options) {
    Started started;
    const std::vector<char*> arguments = pointers(options.command);
    std::vector<char*> variables = pointers(options.environment);
    Pipe report;
    if (report.read < 0) {
        started.failure = errno;
        return started;
    }
    const pid_t pid = ::fork();
    if (pid == 0) become(options, arguments.data(), variables.data(), report.write);
    if (pid < 0) {
        started.failure = errno;
        return started;
    }
    Pipe::close(report.write);
    int failure = 0;
    ssize_t count = 0;
    do {
        count = ::read(report.read, &failure, sizeof failure);
    } while (count < 0 && errno == EINTR);
    if (count == static_cast<ssize_t>(sizeof failure)) {
        int status = 0;
        ::waitpid(pid, &status, 0);
        started.failure = failure;
        return started;
    }
    started.pid = pid;
    return started;
}

int exit_code_of_failure(int failure) { return failure == ENOENT || failure == ENOTDIR ? 127 : 126; }

int exit_code_of_status(int status) {
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool reaped(pid_t pid, int& status) {
    const pid_t got = ::waitpid(pid, &status, WNOHANG);
    if (got < 0 && errno == ECHILD) {
        status = 0;
        return true;
    }
    return got == pid && (WIFEXITED(status) || WIFSIGNALED(status));
}

TimeLimit::TimeLimit(Millis time) {
    descriptor_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    itimerspec when{};
    const auto count = std::max<Millis::rep>(1, time.count());
    when.it_value.tv_sec = static_cast<time_t>(count / 1000);
    when.it_value.tv_nsec = static_cast<long>(count % 1000) * 1'000'000;
    ::timerfd_settime(descriptor_, 0, &when, nullptr);
}

TimeLimit::~TimeLimit() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Captured run_captured(std::vector<std::string> command, std::vector<std::string> environment, Millis time_limit,
                      SignalWatch& signals) {
    Captured captured;
    Pipe out;
    Pipe err;
    int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    StartOptions options;
    options.command = std::move(command);
    options.environment = std::move(environment);
    options.input = nothing;
    options.output = out.write;
    options.error = err.write;
    options.group = StartOptions::Group::own;
    const Started started = start_program(options);
    Pipe::close(nothing);
    Pipe::close(out.write);
    Pipe::close(err.write);
    captured.failure = started.failure;
    captured.exit_code = exit_code_of_failure(started.failure);
    if (started.failure != 0) return captured;
    for (const int end : {out.read, err.read}) ::fcntl(end, F_SETFL, O_NONBLOCK);
    const TimeLimit limit(time_limit);
    int status = 0;
    while (!reaped(started.pid, status)) {
        pollfd polls[] = {{out.read, POLLIN, 0},
                          {err.read, POLLIN, 0},
                          {limit.descriptor(), POLLIN, 0},
                          {signals.descriptor(), POLLIN, 0}};
        if (::poll(polls, std::size(polls), -1) < 0) continue;
        if (polls[0].revents != 0 && !read_available(out.read, captured.out)) Pipe::close(out.read);
        if (polls[1].revents != 0 && !read_available(err.read, captured.err)) Pipe::close(err.read);
        captured.in_time = captured.in_time && polls[2].revents == 0;
        const int number = polls[3].revents != 0 ? signals.take().number : 0;
        if (number != 0 && number != SIGCHLD) captured.interrupted = number;
        if (captured.in_time && captured.interrupted == 0) continue;
        ::kill(-started.pid, SIGKILL);
        ::waitpid(started.pid, &status, 0);
        break;
    }
    if (out.read >= 0) read_available(out.read, captured.out);
    if (err.read >= 0) read_available(err.read, captured.err);
    captured.exit_code = exit_code_of_status(status);
    return captured;
}

}  // namespace opid
