#include "adapters/telemetry/log.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>

#include "core/identity/json_reader.hpp"

namespace opid {
namespace {

std::string_view cut(std::string_view value) { return value.substr(0, Log::value_bytes_max); }

bool is_plain(unsigned char byte) { return byte > 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '='; }

// A value that could be taken for something else stands in quotes, and its odd bytes as \xNN.
void append_text_value(std::string& out, std::string_view value) {
    bool plain = !value.empty();
    for (const char c : value) plain = plain && is_plain(static_cast<unsigned char>(c));
    if (plain) {
        out += value;
        return;
    }
    out += '"';
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte == '"' || byte == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    out += '"';
}

void append_json_value(std::string& out, std::string_view value) {
    if (is_utf8(value)) {
        append_json_string(out, value);
        return;
    }
    std::string ascii;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80) {
            ascii += c;
        } else {
            ascii += fmt::format("\\x{:02x}", byte);
        }
    }
    append_json_string(out, ascii);
}

spdlog::level::level_enum level_of(LogSeverity severity) {
    switch (severity) {
        case LogSeverity::debug: return spdlog::level::debug;
        case LogSeverity::info: return spdlog::level::info;
        case LogSeverity::warning: return spdlog::level::warn;
        case LogSeverity::error: return spdlog::level::err;
    }
    return spdlog::level::err;
}

}  // namespace

struct Log::Output {
    explicit Output(const LogOptions& options) : logger("opid", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
        constexpr auto utc = spdlog::pattern_time_type::utc;
        const std::string pattern = options.json ? "{\"time\":\"%Y-%m-%dT%H:%M:%S.%eZ\",%v}"
                                                 : "%Y-%m-%dT%H:%M:%S.%eZ %v";
        logger.set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern, utc));
        logger.set_level(spdlog::level::debug);
        logger.flush_on(spdlog::level::info);
        logger.set_error_handler([](const std::string&) {});
    }
    spdlog::logger logger;
};

std::string_view to_word(LogSeverity severity) {
    constexpr std::array<std::string_view, 4> words{"debug", "info", "warning", "error"};
    return words[static_cast<std::size_t>(severity)];
}

std::string format_log_line(bool json, LogSeverity severity, std::string_view event,
                            std::initializer_list<LogField> fields) {
    std::string line;
    line.reserve(256);
    if (json) {
        line += fmt::format("\"level\":\"{}\",\"event\":\"{}\"", to_word(severity), event);
        for (const LogField& field : fields) {
            line += fmt::format(",\"{}\":", field.name);
            append_json_value(line, cut(field.value));
        }
        return line;
    }
    line += fmt::format("{} {}", to_word(severity), event);
    for (const LogField& field : fields) {
        line += fmt::format(" {}=", field.name);
        append_text_value(line, cut(field.value));
    }
    return line;
}

Log::Log(LogOptions options) : options_(std::move(options)), output_(std::make_unique<Output>(options_)) {}

Log::~Log() = default;

void Log::write(LogSeverity severity, std::string_view event, std::initializer_list<LogField> fields) noexcept {
    if (!wants(severity)) return;
    try {
        const std::string line = format_log_line(options_.json, severity, event, fields);
        if (options_.sink) {
            options_.sink(line);
        } else {
            output_->logger.log(level_of(severity), spdlog::string_view_t(line.data(), line.size()));
        }
    } catch (const std::exception&) {
        return;  // a lost line is better than a lost write
    }
}

void Log::flush() noexcept {
    try {
        output_->logger.flush();
    } catch (const std::exception&) {
        return;
    }
}

}  // namespace opid
