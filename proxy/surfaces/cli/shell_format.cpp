#include "surfaces/cli/shell_format.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace opid {
namespace {

std::string with_replaced(std::string_view text, std::string_view from, std::string_view to) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        if (text.substr(at, from.size()) == from) {
            out += to;
            at += from.size();
        } else {
            out += text[at++];
        }
    }
    return out;
}

std::string sh_quoted(std::string_view value) { return "'" + with_replaced(value, "'", "'\\''") + "'"; }

std::string fish_quoted(std::string_view value) {
    return "'" + with_replaced(with_replaced(value, "\\", "\\\\"), "'", "\\'") + "'";
}

// PowerShell takes the typographic single quotes for plain ones too.
std::string powershell_quoted(std::string_view value) {
    std::string out(value);
    for (const char* quote : {"'", "\u2018", "\u2019", "\u201a", "\u201b"}) {
        out = with_replaced(out, quote, std::string(quote) + quote);
    }
    return "'" + out + "'";
}

bool is_plain(std::string_view value) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%,+=";
    return value.find_first_not_of(plain) == std::string_view::npos;
}

// Readers differ in escapes and in what they expand between double quotes; this is what they have in common.
Result<std::string> dotenv_quoted(std::string_view value) {
    if (is_plain(value)) return std::string(value);
    if (value.find_first_of("'\\") == std::string_view::npos) return fmt::format("'{}'", value);
    if (value.find_first_of("\"\\$`") == std::string_view::npos) return fmt::format("\"{}\"", value);
    return Error(ErrorKind::invalid, "readers of .env files disagree about its quotes or backslashes");
}

Result<std::string> line_of(const std::string& name, const std::string& value, ShellFormat format) {
    switch (format) {
        case ShellFormat::sh: return fmt::format("export {}={}\n", name, sh_quoted(value));
        case ShellFormat::fish: return fmt::format("set -gx {} {}\n", name, fish_quoted(value));
        case ShellFormat::powershell: return fmt::format("$env:{} = {}\n", name, powershell_quoted(value));
        case ShellFormat::docker: return fmt::format("{}={}\n", name, value);
        case ShellFormat::dotenv: break;
    }
    const Result<std::string> quoted = dotenv_quoted(value);
    if (!quoted) return quoted.error();
    return fmt::format("{}={}\n", name, *quoted);
}

}  // namespace

std::optional<ShellFormat> shell_format_from(std::string_view word) {
    constexpr std::array<std::pair<std::string_view, ShellFormat>, 5> words{{{"sh", ShellFormat::sh},
                                                                             {"fish", ShellFormat::fish},
                                                                             {"powershell", ShellFormat::powershell},
                                                                             {"dotenv", ShellFormat::dotenv},
                                                                             {"docker", ShellFormat::docker}}};
    for (const auto& [known, format] : words) {
        if (known == word) return format;
    }
    return std::nullopt;
}

Result<std::string> shell_text(const Variables& variables, ShellFormat format) {
    std::string text;
    for (const auto& [name, value] : variables) {
        if (value.find_first_of("\r\n") != std::string::npos) {
            return Error(ErrorKind::invalid, fmt::format("{}: its value has a line end", name));
        }
        const Result<std::string> line = line_of(name, value, format);
        if (!line) return Error(line.error().kind(), fmt::format("{}: {}", name, line.error().what()));
        text += *line;
    }
    return text;
}

}  // namespace opid
