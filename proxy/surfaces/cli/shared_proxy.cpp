#include "surfaces/cli/shared_proxy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "surfaces/cli/admin_client.hpp"
#include "surfaces/cli/cli_output.hpp"

namespace opid {
namespace {

namespace json = boost::json;

constexpr Millis ready_time{60'000};
constexpr int pause_ms = 100;
constexpr int gate_pauses = 1200;   // two minutes: another command may be waiting for its proxy's drain
constexpr int drain_pauses = 1200;  // then it goes on draining by itself
constexpr std::uintmax_t log_bytes_max = 8u << 20;
constexpr std::size_t log_tail_bytes = 2000;

void close_descriptor(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
}

int open_lock(const std::string& path) { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

json::object object_from(const std::string& text) {
    boost::system::error_code error;
    json::value value = json::parse(text, error);
    return !error && value.is_object() ? std::move(value.as_object()) : json::object();
}

std::string text_of(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

// "PID START": the start time tells a process from a later one with the same number. Empty: no such process.
std::string identity_of(pid_t pid) {
    std::string stat = first_line(fmt::format("/proc/{}/stat", pid));
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream fields(stat.substr(name_end + 1));
    std::string field;
    std::string state;
    constexpr int start_time = 22 - 2;  // proc(5), counted behind the name
    for (int i = 0; i < start_time && fields >> field; ++i) {
        if (i == 0) state = field;
    }
    return state == "Z" ? std::string() : fmt::format("{} {}", pid, field);
}

pid_t process_of(const std::string& identity) {
    const auto pid = static_cast<pid_t>(std::strtol(identity.c_str(), nullptr, 10));
    return pid > 0 && identity_of(pid) == identity ? pid : -1;
}

int open_log(const std::string& path) {
    std::error_code error;
    if (std::filesystem::file_size(path, error) > log_bytes_max && !error) {
        std::filesystem::rename(path, path + ".1", error);
    }
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

// The end of the file, of what follows `begin`.
std::string tail_of(const std::string& path, std::streamoff begin) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(0, std::ios::end);
    const auto size = static_cast<std::streamoff>(file.tellg());
    begin = std::max(begin, size - static_cast<std::streamoff>(log_tail_bytes));
    file.seekg(begin);
    std::string text(static_cast<std::size_t>(std::max<std::streamoff>(0, size - begin)), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    return text;
}

}  // namespace

ProxyState proxy_state(const CliSettings& found) {
    ProxyState state;
    const AdminClient client(found.admin_address, Secret(first_line(found.data + "/admin.token")));
    const Result<AdminAnswer> answer = client.call("GET", "/v1/status");
    if (!answer) {
        state.text = answer.error().what();
        return state;
    }
    const json::object told = object_from(answer->body);
    state.version = text_of(told, "version");
    if (answer->status != 200 || state.version.empty()) {
        state.kind = ProxyState::Kind::stranger;
        state.text = fmt::format(
            "what answers at {} (status {}) is not the opid of {}: name its configuration with --config, or its data "
            "folder with --data",
            found.admin_address, answer->status, found.data);
        return state;
    }
    state.kind = ProxyState::Kind::ours;
    const json::value* ready = told.if_contains("ready");
    state.ready = ready != nullptr && ready->is_bool() && ready->as_bool();
    state.text = text_of(told, "reason");
    const json::value* profiles = told.if_contains("providers");
    if (profiles != nullptr && profiles->is_int64()) state.profiles = profiles->as_int64();
    const Result<AdminAnswer> authority = client.call("GET", "/v1/ca");
    if (authority && authority->success()) state.fingerprint = text_of(object_from(authority->body), "fingerprint");
    return state;
}

Status SharedProxy::lock_gate() {
    gate_ = open_lock(folder_ + "/run.gate");
    for (int i = 0; gate_ >= 0 && i < gate_pauses; ++i) {
        if (::flock(gate_, LOCK_EX | LOCK_NB) == 0) return ok();
        const int number = signals_.wait(pause_ms).number;
        if (number != 0 && number != SIGCHLD) {
            interrupted_ = number;
            return Error(ErrorKind::timeout, "interrupted");
        }
    }
    if (gate_ < 0) {
        return Error(ErrorKind::unavailable, fmt::format("{}/run.gate: {}", folder_, std::strerror(errno)));
    }
    return Error(ErrorKind::timeout, fmt::format("{}/run.gate stays locked by another opid command", folder_));
}

Result<std::string> SharedProxy::enter(const CliSettings& found) {
    folder_ = found.data;
    const Status locked = lock_gate();
    if (!locked) return locked.error();
    users_ = open_lock(folder_ + "/run.users");
    if (users_ < 0 || ::flock(users_, LOCK_SH) != 0) {
        return Error(ErrorKind::unavailable, fmt::format("{}/run.users: {}", folder_, std::strerror(errno)));
    }
    const ProxyState state = proxy_state(found);
    if (state.kind == ProxyState::Kind::stranger) return Error(ErrorKind::conflict, state.text);
    Result<std::string> address = found.proxy_address;
    if (state.kind == ProxyState::Kind::nobody) {
        address = start();
    } else if (!state.ready) {
        err_ << "opid: note: the running opid is not ready: " << printable(state.text) << "\n";
    }
    close_descriptor(gate_);
    return address;
}

Result<std::string> SharedProxy::start() {
    StartOptions options;
    std::error_code error;
    options.command = {std::filesystem::read_symlink("/proc/self/exe", error).string(), "serve"};
    if (!config_.empty()) options.command.insert(options.command.end(), {"--config", config_});
    if (!data_.empty()) options.command.insert(options.command.end(), {"--data", data_});
    options.environment = environment_with({});
    options.group = StartOptions::Group::session;  // the terminal's signals are not for it
    const std::string log_path = folder_ + "/run.log";
    int log = open_log(log_path);
    const off_t log_begin = ::lseek(log, 0, SEEK_END);
    int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    int ends[2] = {-1, -1};
    if (log < 0 || input < 0 || ::pipe2(ends, O_CLOEXEC) != 0) {
        return Error(ErrorKind::unavailable, fmt::format("{}: {}", log_path, std::strerror(errno)));
    }
    output_ = ends[0];
    options.input = input;
    options.output = ends[1];
    options.error = log;
    const Started started = start_program(options);
    for (int* end : {&log, &input, &ends[1]}) close_descriptor(*end);
    if (started.failure != 0) {
        return Error(ErrorKind::unavailable, fmt::format("{}: {}", options.command[0], std::strerror(started.failure)));
    }
    child_ = started.pid;
    const Status noted = host_.replace_file(folder_ + "/run.started", identity_of(child_) + "\n");
    const Status ready = noted ? await_ready(log_path, log_begin) : noted;
    if (!ready) return ready.error();
    const CliSettings now = host_.settings(config_, data_);  // ports that the system picked are noted by now
    if (now.proxy_address.empty()) return Error(ErrorKind::unavailable, folder_ + "/proxy.address is missing");
    return now.proxy_address;
}

Status SharedProxy::await_ready(const std::string& log, std::int64_t log_begin) {
    const TimeLimit limit(ready_time);
    std::string text;
    for (;;) {
        pollfd polls[] = {{output_, POLLIN, 0}, {limit.descriptor(), POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}};
        if (::poll(polls, std::size(polls), -1) < 0) continue;
        if (polls[2].revents != 0) {
            const int number = signals_.take().number;
            if (number != 0 && number != SIGCHLD) {
                interrupted_ = number;
                return Error(ErrorKind::timeout, "interrupted");
            }
        }
        if (polls[0].revents != 0) {
            char bytes[1024];
            const ssize_t count = ::read(output_, bytes, sizeof bytes);
            if (count <= 0) return ended_early(log, log_begin);
            text.append(bytes, static_cast<std::size_t>(count));
            if (("\n" + text).find("\nready\n") != std::string::npos) return ok();
        }
        if (polls[1].revents != 0) {
            return Error(ErrorKind::timeout,
                         fmt::format("the proxy is not ready after {} s; see {}", ready_time.count() / 1000, log));
        }
    }
}

Error SharedProxy::ended_early(const std::string& log, std::int64_t log_begin) {
    int status = 0;
    while (!reaped(child_, status)) signals_.wait(pause_ms);
    child_ended_ = true;
    std::string told;
    std::istringstream lines(tail_of(log, log_begin));
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.front() != '{') told += "\n  " + printable(line);
    }
    return Error(ErrorKind::unavailable, fmt::format("no opid was running, and the one started for this command ended "
                                                     "with exit code {} ({}){}",
                                                     exit_code_of_status(status), log, told));
}

void SharedProxy::check() {
    int status = 0;
    if (child_ <= 0 || child_ended_ || !reaped(child_, status)) return;
    child_ended_ = true;
    err_ << "opid: the proxy has ended with exit code " << exit_code_of_status(status) << "; see " << folder_
         << "/run.log\n";
}

void SharedProxy::leave() {
    if (users_ < 0 && gate_ < 0 && child_ <= 0) return;
    if (gate_ < 0 && !lock_gate()) err_ << "opid: note: " << folder_ << "/run.gate is locked; not waiting for it\n";
    const bool last = users_ >= 0 && ::flock(users_, LOCK_EX | LOCK_NB) == 0;
    if (last) {
        const std::string path = folder_ + "/run.started";
        pid_t pid = process_of(first_line(path));
        if (pid <= 0 && child_ > 0 && !gone(child_)) pid = child_;
        if (pid > 0) stop_process(pid);
        if (pid <= 0 || gone(pid)) ::unlink(path.c_str());
    }
    close_descriptor(users_);
    close_descriptor(output_);
    close_descriptor(gate_);
    child_ = -1;
}

void SharedProxy::stop_process(pid_t pid) {
    ::kill(pid, SIGTERM);
    for (int i = 0; i < drain_pauses; ++i) {
        if (gone(pid)) return;
        const int number = signals_.wait(pause_ms).number;
        if (number != 0 && number != SIGCHLD) break;
    }
    if (!gone(pid)) err_ << "opid: the proxy (process " << pid << ") is still finishing its requests\n";
}

bool SharedProxy::gone(pid_t pid) {
    if (pid != child_) return identity_of(pid).empty();
    int status = 0;
    child_ended_ = child_ended_ || reaped(child_, status);
    return child_ended_;
}

}  // namespace opid
