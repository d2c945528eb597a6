#include "core/http/request_head.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "core/http/authority.hpp"
#include "core/http/field_line.hpp"
#include "core/http/head_scan.hpp"
#include "core/http/known_field.hpp"
#include "core/http/octets.hpp"
#include "core/http/request_target.hpp"
#include "core/http/transfer_framing.hpp"

namespace opid::http {
namespace {

constexpr std::size_t version_line_end = 11;  // bytes of " HTTP/1.1\r\n"

// Pieces of the head that decide more than their own line.
struct Seen {
    ContentLength length;
    TransferCoding transfer;
    unsigned hosts = 0;
    std::string_view host;
    bool expectation = false;
    bool unknown_expectation = false;
    bool upgrade = false;
};

HeadParse refuse(std::uint16_t status, std::string_view slug, std::string_view detail) {
    HeadParse parse;
    parse.outcome = ParseOutcome::refused;
    parse.refusal = {status, slug, detail, true};
    return parse;
}
HeadParse bad_request(std::string_view detail) { return refuse(400, slug::bad_request, detail); }
HeadParse head_too_large() { return refuse(431, slug::head_too_large, "The request head is larger than limits.head."); }
HeadParse target_too_long() {
    return refuse(414, slug::target_too_long, "The request target is longer than limits.target.");
}

// One pass over the bytes. Each step returns false when it has set `result`: refused or need_more.
class RequestParser {
public:
    RequestParser(std::string_view bytes, const HeadLimits& limits, RequestHead& out, HeadProgress& progress)
        : begin_(bytes.data()),
          end_(begin_ + bytes.size()),
          at_(begin_),
          available_(bytes.size()),
          limits_(limits),
          out_(out),
          progress_(progress) {}

    HeadParse run() {
        out_.clear();
        if (skip_blank_lines() && start_line() && field_lines()) decide();
        return result_;
    }

private:
    std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
    bool stop(const HeadParse& result) {
        result_ = result;
        return false;
    }

    bool wait(std::size_t line_start) {
        if (available_ - start_ > limits_.head_bytes) return stop(head_too_large());
        progress_.scanned = available_;
        progress_.line_start = line_start;
        progress_.field_lines = out_.fields.size();
        return stop({});
    }

    bool skip_blank_lines() {
        for (std::size_t lines = 0;; ++lines) {
            if (at_ == end_) return wait(offset());
            if (*at_ == '\n') return stop(bad_request("A line ends in a lone LF."));
            if (*at_ != '\r') break;
            if (lines == limits_.leading_blank_lines)
                return stop(bad_request("Blank lines where a request should begin."));
            if (end_ - at_ < 2) return wait(offset());
            if (at_[1] != '\n') return stop(bad_request("A CR is not followed by LF."));
            at_ += 2;
        }
        start_ = offset();
        progress_.started = true;
        // What lies beyond the bound isn't looked at, so that one big read is judged as many small ones are.
        if (available_ - start_ > limits_.head_bytes) end_ = at_ + limits_.head_bytes + 1;
        return true;
    }

    bool start_line() {
        const char* const method = at_;
        at_ = skip_token(at_, end_);
        out_.method = span_of(method, at_);
        if (out_.method.size() > limits_.method_bytes) {
            return stop(refuse(501, slug::not_implemented, "The method is longer than any that opid forwards."));
        }
        if (at_ == end_) return wait(start_);
        if (*at_ != ' ' || out_.method.empty())
            return stop(bad_request("The request line does not begin with a method."));
        const char* const target = ++at_;
        at_ = skip_target(at_, end_);
        out_.target = span_of(target, at_);
        if (out_.target.size() > limits_.target_bytes) return stop(target_too_long());
        if (at_ == end_) return wait(start_);
        if (out_.target.empty()) return stop(bad_request("The request line has no target."));
        if (*at_ == '#') return stop(bad_request("The request target holds a fragment."));
        if (*at_ != ' ') return stop(bad_request("The request target is not followed by a version."));
        return version();
    }

    bool version() {
        constexpr std::string_view name = " HTTP/";
        const std::size_t left = static_cast<std::size_t>(end_ - at_);
        if (span_of(at_, end_).substr(0, name.size()) != name.substr(0, left)) {
            return stop(bad_request("The request line does not end in an HTTP version."));
        }
        if (left < version_line_end) return short_version(left);
        const char major = at_[6];
        const char minor = at_[8];
        if (!is_digit(major) || at_[7] != '.' || !is_digit(minor) || at_[9] != '\r' || at_[10] != '\n') {
            return stop(bad_request("The request line does not end in an HTTP version and CRLF."));
        }
        if (major != '1') return stop(refuse(505, slug::version, "Only HTTP/1.0 and HTTP/1.1 are spoken here."));
        out_.minor = minor == '0' ? 0 : 1;
        at_ += version_line_end;
        progress_.start_line_done = true;
        return true;
    }

    // A line that ends too early is refused now, not when enough bytes for a good one have come.
    bool short_version(std::size_t left) {
        for (std::size_t i = 0; i < left; ++i) {
            if (at_[i] == '\n') return stop(bad_request("The request line does not end in an HTTP version and CRLF."));
        }
        return wait(start_);
    }

    bool field_lines() {
        for (;;) {
            const FieldLine line = read_field_line(at_, end_, NameBlanks::refuse);
            switch (line.kind) {
                case LineKind::fault: return stop(bad_request(line.fault));
                case LineKind::need_more: return wait(offset());
                case LineKind::blank: at_ = line.next; return head_fits();
                case LineKind::field: break;
            }
            if (out_.fields.size() == limits_.fields) {
                return stop(refuse(431, slug::head_too_large, "The request has more fields than limits.fields."));
            }
            at_ = line.next;
            out_.fields.add(line.field.name, line.field.value);
            note(line.field);
        }
    }

    bool head_fits() { return offset() - start_ <= limits_.head_bytes || stop(head_too_large()); }

    void note(const Field& field) {
        switch (known_field(field.name)) {
            case KnownField::host:
                ++seen_.hosts;
                seen_.host = field.value;
                return;
            case KnownField::content_length: seen_.length.add_line(field.value); return;
            case KnownField::transfer_encoding: seen_.transfer.add_line(field.value); return;
            case KnownField::connection: add_elements(field.value, out_.connection_options); return;
            case KnownField::upgrade: add_elements(field.value, out_.upgrades); return;
            case KnownField::expect: note_expectation(field.value); return;
            case KnownField::other:
            case KnownField::http2_settings:
            case KnownField::keep_alive:
            case KnownField::operation:
            case KnownField::opid_problem:
            case KnownField::proxy_authenticate:
            case KnownField::proxy_authorization:
            case KnownField::proxy_connection:
            case KnownField::te:
            case KnownField::trailer:
            case KnownField::via:
            case KnownField::x_forwarded_for: return;
        }
    }

    static void add_elements(std::string_view list, std::vector<std::string_view>& elements) {
        ListCursor cursor(list);
        std::string_view element;
        while (cursor.next(element)) elements.push_back(element);
    }

    void note_expectation(std::string_view list) {
        ListCursor cursor(list);
        std::string_view element;
        while (cursor.next(element)) {
            if (equal_ignoring_case(element, "100-continue")) {
                seen_.expectation = true;
            } else {
                seen_.unknown_expectation = true;
            }
        }
    }

    void decide() {
        if (!decide_framing() || !check_host()) return;
        const TargetFault fault = read_target(out_);
        decide_persistence();
        const bool close = !out_.keep_alive || out_.framing.has_body();
        if (fault != TargetFault::none) {
            refuse_soundly(target_refusal(fault, close || fault == TargetFault::form));
            return;
        }
        if (!settle_authority()) return;
        if (seen_.unknown_expectation) {
            refuse_soundly({417, slug::expectation_failed, "Only the expectation 100-continue is understood.", close});
            return;
        }
        out_.expect_continue = seen_.expectation && out_.minor >= 1;
        if (out_.minor == 0 || !out_.has_connection_option("upgrade")) out_.upgrades.clear();
        result_.outcome = ParseOutcome::complete;
        result_.consumed = offset();
    }

    void refuse_soundly(const Refusal& refusal) {
        result_.outcome = ParseOutcome::refused;
        result_.refusal = refusal;
        result_.consumed = refusal.close ? 0 : offset();
    }

    bool decide_framing() {
        const Coding coding = seen_.transfer.coding();
        if (seen_.length.present() && !seen_.length.sound()) {
            return stop(bad_request("Content-Length is not one number."));
        }
        if (coding == Coding::none) {
            if (seen_.length.present()) out_.framing = Framing::sized(seen_.length.bytes());
        } else if (seen_.length.present()) {
            return stop(bad_request("Content-Length and Transfer-Encoding are both there."));
        } else if (out_.minor == 0) {
            return stop(bad_request("An HTTP/1.0 request has a Transfer-Encoding."));
        } else if (coding == Coding::coded_chunked) {
            return stop(refuse(501, slug::not_implemented, "Of the transfer codings only chunked is understood."));
        } else if (coding != Coding::chunked) {
            return stop(bad_request("Transfer-Encoding does not delimit the body."));
        } else {
            out_.framing = Framing::chunked();
        }
        if (out_.method == "CONNECT" && out_.framing.kind != BodyKind::none) {
            return stop(bad_request("A CONNECT request has a body."));
        }
        return true;
    }

    bool check_host() {
        if (seen_.hosts > 1) return stop(bad_request("There is more than one Host field."));
        if (seen_.hosts == 0) {
            if (out_.minor == 0 || out_.method == "CONNECT") return true;
            return stop(bad_request("An HTTP/1.1 request has no Host field."));
        }
        if (!seen_.host.empty() && !split_authority(seen_.host))
            return stop(bad_request("The Host field is not valid."));
        return true;
    }

    bool settle_authority() {
        if (out_.form != TargetForm::origin && out_.form != TargetForm::asterisk) return true;
        out_.authority = seen_.host;
        if (out_.authority.empty() && out_.minor >= 1 && out_.form == TargetForm::origin) {
            return stop(bad_request("The Host field is empty."));
        }
        return true;
    }

    // RFC 9112 section 9.3: HTTP/1.0 persists only on its own wish, and never through a proxy.
    void decide_persistence() {
        const bool proxied = out_.form == TargetForm::absolute || out_.form == TargetForm::authority;
        out_.keep_alive = !out_.has_connection_option("close") &&
                          (out_.minor >= 1 || (!proxied && out_.has_connection_option("keep-alive")));
    }

    const char* begin_;
    const char* end_;
    const char* at_;
    std::size_t available_;
    const HeadLimits& limits_;
    RequestHead& out_;
    HeadProgress& progress_;
    std::size_t start_ = 0;  // of the request line
    Seen seen_;
    HeadParse result_;
};

}  // namespace

bool RequestHead::has_connection_option(std::string_view name) const {
    return std::any_of(connection_options.begin(), connection_options.end(),
                       [name](std::string_view option) { return equal_ignoring_case(option, name); });
}

bool RequestHead::offers_upgrade(std::string_view protocol) const {
    return std::any_of(upgrades.begin(), upgrades.end(),
                       [protocol](std::string_view offer) { return equal_ignoring_case(offer, protocol); });
}

void RequestHead::clear() {
    method = target = scheme = authority = path = {};
    form = TargetForm::origin;
    minor = 1;
    fields.clear();
    framing = {};
    keep_alive = true;
    expect_continue = false;
    connection_options.clear();
    upgrades.clear();
}

HeadParse parse_request_head(std::string_view bytes, const HeadLimits& limits, RequestHead& out,
                             HeadProgress& progress) {
    HeadParse result;
    const HeadScanLimits bounds{limits.method_bytes + limits.target_bytes + version_line_end, limits.fields};
    const HeadScan scan = scan_head(bytes, bounds, NameBlanks::refuse, progress);
    if (scan.verdict == ScanVerdict::fault) {
        result = bad_request(scan.fault);
    } else if (scan.verdict == ScanVerdict::parse || bytes.size() > limits.head_bytes) {
        result = RequestParser(bytes, limits, out, progress).run();
    }
    if (result.outcome != ParseOutcome::need_more) progress = {};
    return result;
}

HeadParse parse_request_head(std::string_view bytes, const HeadLimits& limits, RequestHead& out) {
    HeadProgress progress;
    return parse_request_head(bytes, limits, out, progress);
}

}  // namespace opid::http
