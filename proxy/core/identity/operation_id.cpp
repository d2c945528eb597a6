#include "core/identity/operation_id.hpp"

#include <fmt/format.h>

#include "base/encoding.hpp"

namespace opid {
namespace {

constexpr const char* advice = "send 1 to 255 visible ASCII characters, bare or as a quoted string";

bool visible(char c) { return c > ' ' && c < '\x7f'; }
bool blank(char c) { return c == ' ' || c == '\t'; }

Error invalid(std::string_view field, std::string_view what) {
    return Error(ErrorKind::invalid, fmt::format("{} {}; {}", field, what, advice));
}

Result<std::string> checked(std::string_view field, std::string_view name) {
    if (name.empty()) return invalid(field, "is empty");
    if (name.size() > operation_id_chars_max) return invalid(field, "is longer than 255 characters");
    for (const char c : name) {
        if (!visible(c)) return invalid(field, "holds a blank, a control character or a character beyond ASCII");
    }
    return std::string(name);
}

// Walks over one header line. Positions only move forward.
class LineReader {
public:
    LineReader(std::string_view field, std::string_view line) : field_(field), line_(line) {}

    bool at_end() const { return at_ == line_.size(); }
    void skip_blanks() {
        while (!at_end() && blank(line_[at_])) ++at_;
    }

    Result<std::string> member() {
        if (!at_end() && line_[at_] == '"') return quoted();
        const std::size_t begin = at_;
        while (!at_end() && !bare_end()) ++at_;
        return checked(field_, line_.substr(begin, at_ - begin));
    }

    // Behind a member: the comma before the next one (true), or the end (false).
    Result<bool> comma() {
        skip_blanks();
        if (at_end()) return false;
        if (line_[at_] != ',') return invalid(field_, "holds a blank or text behind its value");
        ++at_;
        skip_blanks();
        return true;
    }

private:
    char peek() const { return at_end() ? '\0' : line_[at_]; }

    // A comma parts two bare values only with a blank beside it.
    bool bare_end() const {
        if (blank(line_[at_])) return true;
        if (line_[at_] != ',') return false;
        return at_ + 1 < line_.size() && blank(line_[at_ + 1]);
    }

    Result<std::string> quoted() {
        std::string text;
        for (++at_; !at_end(); ++at_) {
            char c = line_[at_];
            if (c == '"') {
                ++at_;
                if (!parameters()) return invalid(field_, "is a string with broken parameters");
                return checked(field_, text);
            }
            if (c == '\\') {
                if (++at_ == line_.size()) break;
                c = line_[at_];
                if (c != '"' && c != '\\') return invalid(field_, "is a string with an unknown escape");
            }
            text.push_back(c);
        }
        return invalid(field_, "is a string without its closing quote");
    }

    // *( ";" *SP key [ "=" bare-item ] ) of RFC 9651; the values are skipped, not interpreted.
    bool parameters() {
        while (peek() == ';') {
            ++at_;
            while (peek() == ' ') ++at_;
            if (!(peek() == '*' || (peek() >= 'a' && peek() <= 'z'))) return false;
            while (key_character(peek())) ++at_;
            if (peek() != '=') continue;
            ++at_;
            if (!skip_item()) return false;
        }
        return true;
    }
    static bool key_character(char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '*';
    }
    bool skip_item() {
        if (peek() == '%') ++at_;  // a display string is a string behind a percent sign
        if (peek() == '"') {
            for (++at_; !at_end(); ++at_) {
                if (line_[at_] == '"') {
                    ++at_;
                    return true;
                }
                if (line_[at_] == '\\' && ++at_ == line_.size()) return false;
            }
            return false;
        }
        const std::size_t begin = at_;
        while (!at_end() && visible(peek()) && std::string_view("\";,\\").find(peek()) == std::string_view::npos) ++at_;
        return at_ > begin;
    }

    std::string_view field_;
    std::string_view line_;
    std::size_t at_ = 0;
};

Result<std::optional<std::string>> parse_name(std::string_view field, std::span<const std::string_view> lines) {
    std::optional<std::string> found;
    for (const std::string_view line : lines) {
        LineReader reader(field, trim_blank(line));
        for (bool more = true; more;) {
            auto name = reader.member();
            if (!name) return name.error();
            if (found && *found != *name) return invalid(field, "names two different values");
            found = std::move(*name);
            const auto comma = reader.comma();
            if (!comma) return comma.error();
            more = *comma;
        }
    }
    return found;
}

}  // namespace

Result<std::optional<OperationId>> parse_operation_id(std::string_view field, std::span<const std::string_view> lines) {
    auto name = parse_name(field, lines);
    if (!name) return name.error();
    if (!*name) return std::optional<OperationId>();
    return std::optional<OperationId>(OperationId(std::move(**name)));
}

Result<std::optional<StepReference>> parse_step_reference(std::string_view field,
                                                          std::span<const std::string_view> lines) {
    auto name = parse_name(field, lines);
    if (!name) return name.error();
    if (!*name) return std::optional<StepReference>();
    return std::optional<StepReference>(StepReference(std::move(**name)));
}

Result<OperationId> operation_id_from_text(std::string_view text) {
    auto name = checked("the operation ID", text);
    if (!name) return name.error();
    return OperationId(std::move(*name));
}

}  // namespace opid
