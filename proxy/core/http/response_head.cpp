#include "core/http/response_head.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "core/http/field_line.hpp"
#include "core/http/head_scan.hpp"
#include "core/http/known_field.hpp"
#include "core/http/octets.hpp"
#include "core/http/transfer_framing.hpp"

namespace opid::http {
namespace {

constexpr std::string_view version_prefix = "HTTP/1.";
constexpr std::size_t status_end = 12;  // bytes of "HTTP/1.1 200"

HeadParse invalid(std::string_view detail) {
    HeadParse parse;
    parse.outcome = ParseOutcome::refused;
    parse.refusal = {502, slug::upstream_invalid, detail, true};
    return parse;
}

// One pass over the bytes. Each step returns false when it has set `result`: refused or need_more.
class ResponseParser {
public:
    ResponseParser(std::string_view bytes, const HeadLimits& limits, std::string_view method, ResponseHead& out,
                   HeadProgress& progress)
        : begin_(bytes.data()),
          end_(begin_ + std::min(bytes.size(), limits.head_bytes + 1)),
          at_(begin_),
          available_(bytes.size()),
          limits_(limits),
          method_(method),
          out_(out),
          progress_(progress) {}

    HeadParse run() {
        out_.clear();
        if (status_line() && field_lines() && decide_framing()) {
            decide_reuse();
            result_.outcome = ParseOutcome::complete;
            result_.consumed = offset();
        }
        return result_;
    }

private:
    std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
    bool stop(const HeadParse& result) {
        result_ = result;
        return false;
    }

    bool wait(std::size_t line_start) {
        if (available_ > limits_.head_bytes) return stop(invalid("The response head is larger than limits.head."));
        progress_.scanned = available_;
        progress_.line_start = line_start;
        progress_.field_lines = out_.fields.size();
        return stop({});
    }

    bool status_line() {
        const std::string_view bytes = span_of(at_, end_);
        progress_.started = !bytes.empty();
        if (bytes.substr(0, version_prefix.size()) != version_prefix.substr(0, bytes.size())) {
            return stop(invalid("The response does not begin with HTTP/1.x."));
        }
        const std::size_t line_feed = bytes.substr(0, status_end).find('\n');
        if (line_feed != std::string_view::npos) return stop(invalid("The status line is cut short."));
        if (bytes.size() <= status_end) return wait(0);
        const char minor = bytes[7];
        if (!is_digit(minor) || bytes[8] != ' ' || bytes[9] < '1' || bytes[9] > '9' || !is_digit(bytes[10]) ||
            !is_digit(bytes[11])) {
            return stop(invalid("The status line has no status of three digits."));
        }
        out_.minor = minor == '0' ? 0 : 1;
        out_.status = static_cast<std::uint16_t>((bytes[9] - '0') * 100 + (bytes[10] - '0') * 10 + (bytes[11] - '0'));
        at_ += status_end;
        return reason();
    }

    // Lax in one point: a status line may end right behind the status.
    bool reason() {
        if (*at_ == ' ') {
            const char* const text = ++at_;
            at_ = skip_value(at_, end_);
            out_.reason = span_of(text, at_);
        }
        if (at_ == end_) return wait(0);
        if (*at_ != '\r') return stop(invalid("The status line holds a byte that is not allowed."));
        if (end_ - at_ < 2) return wait(0);
        if (at_[1] != '\n') return stop(invalid("A CR is not followed by LF."));
        at_ += 2;
        progress_.start_line_done = true;
        return true;
    }

    bool field_lines() {
        for (;;) {
            const FieldLine line = read_field_line(at_, end_, NameBlanks::strip);
            switch (line.kind) {
                case LineKind::fault: return stop(invalid(line.fault));
                case LineKind::need_more: return wait(offset());
                case LineKind::blank: at_ = line.next; return head_fits();
                case LineKind::field: break;
            }
            if (out_.fields.size() == limits_.fields) {
                return stop(invalid("The response has more fields than limits.fields."));
            }
            at_ = line.next;
            out_.fields.add(line.field.name, line.field.value);
            note(line.field);
        }
    }

    bool head_fits() {
        return offset() <= limits_.head_bytes || stop(invalid("The response head is larger than limits.head."));
    }

    void note(const Field& field) {
        const KnownField known = known_field(field.name);
        if (known == KnownField::content_length) {
            length_.add_line(field.value);
        } else if (known == KnownField::transfer_encoding) {
            transfer_.add_line(field.value);
        } else if (known == KnownField::connection) {
            ListCursor cursor(field.value);
            std::string_view option;
            while (cursor.next(option)) out_.connection_options.push_back(option);
        }
    }

    bool bodyless() const {
        return out_.status < 200 || out_.status == 204 || out_.status == 304 || method_ == "HEAD" ||
               (method_ == "CONNECT" && out_.status < 300);
    }

    bool decide_framing() {
        const Coding coding = transfer_.coding();
        if (length_.present() && !length_.sound()) return stop(invalid("Content-Length is not one number."));
        if (coding == Coding::malformed) return stop(invalid("Transfer-Encoding does not delimit the body."));
        if (coding == Coding::coded_chunked) {
            return stop(invalid("Of the transfer codings only chunked is understood."));
        }
        out_.drop_length = length_.present() && coding != Coding::none;
        out_.coded = coding == Coding::coded;
        if (bodyless()) {
            out_.coded = false;
        } else if (coding == Coding::chunked) {
            out_.framing = Framing::chunked();
        } else if (coding == Coding::coded) {
            out_.framing = Framing::until_close();
        } else if (length_.present()) {
            out_.framing = Framing::sized(length_.bytes());
        } else {
            out_.framing = Framing::until_close();
        }
        return true;
    }

    // RFC 9112 sections 6.1, 6.3 and 9.3. Contradictory framing is read safely but ends the connection.
    void decide_reuse() {
        const bool persistent = !out_.has_connection_option("close") &&
                                (out_.minor >= 1 || out_.has_connection_option("keep-alive"));
        const bool old_chunked = out_.minor == 0 && transfer_.coding() != Coding::none;
        const bool tunnel = out_.status == 101 || (method_ == "CONNECT" && out_.status >= 200 && out_.status < 300);
        out_.reusable = persistent && !old_chunked && !out_.drop_length && !tunnel &&
                        out_.framing.kind != BodyKind::until_close;
    }

    const char* begin_;
    const char* end_;
    const char* at_;
    std::size_t available_;
    const HeadLimits& limits_;
    std::string_view method_;
    ResponseHead& out_;
    HeadProgress& progress_;
    ContentLength length_;
    TransferCoding transfer_;
    HeadParse result_;
};

}  // namespace

bool ResponseHead::has_connection_option(std::string_view name) const {
    return std::any_of(connection_options.begin(), connection_options.end(),
                       [name](std::string_view option) { return equal_ignoring_case(option, name); });
}

void ResponseHead::clear() {
    status = 0;
    reason = {};
    minor = 1;
    fields.clear();
    framing = {};
    reusable = true;
    coded = false;
    drop_length = false;
    connection_options.clear();
}

HeadParse parse_response_head(std::string_view bytes, const HeadLimits& limits, std::string_view request_method,
                              ResponseHead& out, HeadProgress& progress) {
    HeadParse result;
    const HeadScan scan = scan_head(bytes, {limits.head_bytes, limits.fields}, NameBlanks::strip, progress);
    if (scan.verdict == ScanVerdict::fault) {
        result = invalid(scan.fault);
    } else if (scan.verdict == ScanVerdict::parse || bytes.size() > limits.head_bytes) {
        result = ResponseParser(bytes, limits, request_method, out, progress).run();
    }
    if (result.outcome != ParseOutcome::need_more) progress = {};
    return result;
}

HeadParse parse_response_head(std::string_view bytes, const HeadLimits& limits, std::string_view request_method,
                              ResponseHead& out) {
    HeadProgress progress;
    return parse_response_head(bytes, limits, request_method, out, progress);
}

}  // namespace opid::http
