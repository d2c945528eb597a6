#pragma once
// The structured log: one line a fact, as JSON or as text, to stderr. Nothing that came from the network is written
// without escapes, and nothing secret is ever handed to it: no credentials, cookies, query strings or bodies.
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace opid {

enum class LogSeverity : unsigned char { debug, info, warning, error };

struct LogField {
    std::string_view name;  // snake_case, ours
    std::string_view value;
};

struct LogOptions {
    LogSeverity least = LogSeverity::info;
    bool json = true;
    std::function<void(std::string_view line)> sink;  // tests; empty: stderr. Lines come without their line end
};

// Thread-safe.
class Log {
public:
    static constexpr std::size_t value_bytes_max = 1024;  // longer values are cut

    explicit Log(LogOptions options);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    bool wants(LogSeverity severity) const noexcept { return severity >= options_.least; }
    // `event` is a fixed word of ours ("started"). Never throws: a line that can't be written is lost.
    void write(LogSeverity severity, std::string_view event, std::initializer_list<LogField> fields) noexcept;
    void flush() noexcept;

private:
    struct Output;
    LogOptions options_;
    std::unique_ptr<Output> output_;
};

std::string_view to_word(LogSeverity severity);

// The line without its time, and without the braces of JSON: `"level":"info","event":"started","port":"8080"`, or
// `info started port=8080`. For Log and its tests.
std::string format_log_line(bool json, LogSeverity severity, std::string_view event,
                            std::initializer_list<LogField> fields);

}  // namespace opid
