#include "core/http/hop_by_hop.hpp"

#include <algorithm>
#include <charconv>

#include "base/encoding.hpp"
#include "core/http/known_field.hpp"
#include "core/http/transfer_framing.hpp"

namespace opid::http {
namespace {

using Names = std::vector<std::string_view>;

bool names(const Names* list, std::string_view name) {
    if (list == nullptr) return false;
    return std::any_of(list->begin(), list->end(),
                       [name](std::string_view other) { return equal_ignoring_case(other, name); });
}

void write_number(std::uint64_t number, std::string& out) {
    char digits[20];
    const auto done = std::to_chars(digits, digits + sizeof digits, number);
    out.append(digits, done.ptr);
}

void write_field(std::string_view name, std::string_view value, std::string& out) {
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
}

void write_length(std::string_view name, std::uint64_t bytes, std::string& out) {
    out += name;
    out += ": ";
    write_number(bytes, out);
    out += "\r\n";
}

void write_via(std::uint8_t minor, std::string_view pseudonym, std::string& out) {
    if (pseudonym.empty()) return;
    out += minor == 0 ? "Via: 1.0 " : "Via: 1.1 ";
    out += pseudonym;
    out += "\r\n";
}

bool may_be_extra(const Field& field) {
    const KnownField known = known_field(field.name);
    return !is_hop_by_hop(field.name) && known != KnownField::content_length && known != KnownField::host &&
           is_token(field.name) && is_field_value(field.value);
}

bool replaced(const FieldList* extra, std::string_view name) {
    if (extra == nullptr) return false;
    return std::any_of(extra->begin(), extra->end(), [name](const Field& field) {
        return equal_ignoring_case(field.name, name) && may_be_extra(field);
    });
}

void write_extra(const FieldList* extra, std::string& out) {
    if (extra == nullptr) return;
    for (const Field& field : *extra) {
        if (may_be_extra(field)) write_field(field.name, field.value, out);
    }
}

// Connection: close, keep-alive and the like name no field that would have to go.
bool lists_fields(const Names& connection_options) {
    return std::any_of(connection_options.begin(), connection_options.end(), [](std::string_view option) {
        return !equal_ignoring_case(option, "close") && !is_hop_by_hop(option);
    });
}

// The framing field of a message goes where the sender had one, under the sender's spelling of its name.
class FramingLine {
public:
    FramingLine(const Framing& framing, std::string& out) : framing_(framing), out_(out) {}
    void at_length(std::string_view name) {
        if (framing_.kind == BodyKind::length) write(name);
    }
    void at_transfer(std::string_view name) {
        if (framing_.kind == BodyKind::chunked) write(name);
    }
    void at_end() {
        at_length("Content-Length");
        at_transfer("Transfer-Encoding");
    }

private:
    void write(std::string_view name) {
        if (written_) return;
        written_ = true;
        if (framing_.kind == BodyKind::length) {
            write_length(name, framing_.length, out_);
        } else {
            write_field(name, "chunked", out_);
        }
    }
    const Framing framing_;
    std::string& out_;
    bool written_ = false;
};

void write_target(const RequestHead& head, const RequestForwarding& options, std::string& out) {
    if (!options.target.empty()) {
        out += options.target;
    } else if (head.form != TargetForm::absolute) {
        out += head.target;
    } else if (head.path.empty()) {
        out += head.method == "OPTIONS" ? "*" : "/";
    } else {
        if (head.path.front() == '?') out += '/';
        out += head.path;
    }
}

class RequestWriter {
public:
    RequestWriter(const RequestHead& head, const RequestForwarding& options, std::string& out)
        : head_(head),
          options_(options),
          out_(out),
          framing_(options.framing != nullptr ? *options.framing : head.framing),
          line_(framing_, out),
          listed_(lists_fields(head.connection_options)) {}

    void run() {
        out_ += head_.method;
        out_ += ' ';
        write_target(head_, options_, out_);
        out_ += " HTTP/1.1\r\n";
        const std::string_view host = options_.host.empty() ? head_.authority : options_.host;
        if (!head_.fields.has("host")) write_field("Host", host, out_);
        for (const Field& field : head_.fields) write_kept(field, host);
        line_.at_end();
        if (!options_.forwarded_for.empty()) write_field("X-Forwarded-For", options_.forwarded_for, out_);
        write_via(head_.minor, options_.via, out_);
        write_extra(options_.extra, out_);
        write_connection();
        out_ += "\r\n";
    }

private:
    void write_kept(const Field& field, std::string_view host) {
        switch (known_field(field.name)) {
            case KnownField::connection:
            case KnownField::http2_settings:
            case KnownField::keep_alive:
            case KnownField::operation:
            case KnownField::proxy_authenticate:
            case KnownField::proxy_authorization:
            case KnownField::proxy_connection:
            case KnownField::upgrade: return;
            case KnownField::content_length: line_.at_length(field.name); return;
            case KnownField::transfer_encoding: line_.at_transfer(field.name); return;
            case KnownField::host: write_field(field.name, host, out_); return;
            case KnownField::te:
                if (options_.trailers && !te_) te_ = lists_trailers(field.value);
                return;
            case KnownField::trailer:
                if (framing_.kind != BodyKind::chunked) return;
                break;
            case KnownField::x_forwarded_for:
                if (!options_.forwarded_for.empty()) return;
                break;
            case KnownField::other:
            case KnownField::expect:
            case KnownField::opid_problem:
            case KnownField::via: break;
        }
        if (!taken_away(field.name)) write_field(field.name, field.value, out_);
    }

    bool taken_away(std::string_view name) const {
        if (names(options_.drop, name) || replaced(options_.extra, name)) return true;
        return listed_ && head_.has_connection_option(name) && !is_protected(name) && !names(options_.protect, name);
    }

    static bool lists_trailers(std::string_view te) {
        ListCursor cursor(te);
        std::string_view coding;
        while (cursor.next(coding)) {
            if (equal_ignoring_case(coding, "trailers")) return true;
        }
        return false;
    }

    void write_connection() {
        const bool upgrade = !options_.upgrade.empty() && head_.offers_upgrade(options_.upgrade);
        if (upgrade) write_field("Upgrade", options_.upgrade, out_);
        if (te_) write_field("TE", "trailers", out_);
        if (!upgrade && !te_ && !options_.close) return;
        out_ += "Connection: ";
        std::string_view comma;
        const auto option = [&](bool wanted, std::string_view name) {
            if (!wanted) return;
            out_ += comma;
            out_ += name;
            comma = ", ";
        };
        option(upgrade, "Upgrade");
        option(te_, "TE");
        option(options_.close, "close");
        out_ += "\r\n";
    }

    const RequestHead& head_;
    const RequestForwarding& options_;
    std::string& out_;
    Framing framing_;
    FramingLine line_;
    bool listed_;
    bool te_ = false;
};

class ResponseWriter {
public:
    ResponseWriter(const ResponseHead& head, const ResponseForwarding& options, std::string& out)
        : head_(head),
          options_(options),
          out_(out),
          line_(options.framing, out),
          listed_(lists_fields(head.connection_options)) {}

    void run() {
        out_ += "HTTP/1.1 ";
        write_number(head_.status, out_);
        out_ += ' ';
        out_ += head_.reason;
        out_ += "\r\n";
        for (const Field& field : head_.fields) write_kept(field);
        line_.at_end();
        write_via(head_.minor, options_.via, out_);
        write_extra(options_.extra, out_);
        write_connection();
        out_ += "\r\n";
    }

private:
    void write_kept(const Field& field) {
        switch (known_field(field.name)) {
            case KnownField::connection:
            case KnownField::http2_settings:
            case KnownField::keep_alive:
            case KnownField::opid_problem:
            case KnownField::proxy_authenticate:
            case KnownField::proxy_authorization:
            case KnownField::proxy_connection:
            case KnownField::te:
            case KnownField::upgrade: return;
            case KnownField::content_length: content_length(field); return;
            case KnownField::transfer_encoding:
                line_.at_transfer(field.name);
                if (head_.coded && options_.framing.kind == BodyKind::until_close) break;
                return;
            case KnownField::trailer:
                if (options_.framing.kind != BodyKind::chunked) return;
                break;
            case KnownField::other:
            case KnownField::expect:
            case KnownField::host:
            case KnownField::operation:
            case KnownField::via:
            case KnownField::x_forwarded_for: break;
        }
        if (!taken_away(field.name)) write_field(field.name, field.value, out_);
    }

    // Without a body the field describes what GET would have given; it stays, but as one number.
    void content_length(const Field& field) {
        line_.at_length(field.name);
        const bool describes = options_.framing.kind == BodyKind::none && head_.framing.kind == BodyKind::none;
        if (!describes || described_ || head_.drop_length || head_.status < 200 || head_.status == 204) return;
        described_ = true;
        ContentLength length;
        length.add_line(field.value);
        if (length.sound()) write_length(field.name, length.bytes(), out_);
    }

    bool taken_away(std::string_view name) const {
        if (names(options_.drop, name) || replaced(options_.extra, name)) return true;
        return listed_ && head_.has_connection_option(name) && !is_protected(name);
    }

    void write_connection() {
        if (head_.status == 101 && !options_.upgrade.empty()) {
            write_field("Upgrade", options_.upgrade, out_);
            write_field("Connection", "Upgrade", out_);
        } else if (head_.status < 200) {
            return;
        } else if (options_.close) {
            write_field("Connection", "close", out_);
        } else if (options_.client_minor == 0) {
            write_field("Connection", "keep-alive", out_);
        }
    }

    const ResponseHead& head_;
    const ResponseForwarding& options_;
    std::string& out_;
    FramingLine line_;
    bool listed_;
    bool described_ = false;
};

}  // namespace

void write_request_head(const RequestHead& head, const RequestForwarding& options, std::string& out) {
    RequestWriter(head, options, out).run();
}

Framing client_framing(const ResponseHead& head, std::uint8_t client_minor) {
    if (head.coded || head.framing.kind == BodyKind::none || head.framing.kind == BodyKind::length) return head.framing;
    return client_minor == 0 ? Framing::until_close() : Framing::chunked();
}

void write_response_head(const ResponseHead& head, const ResponseForwarding& options, std::string& out) {
    ResponseWriter(head, options, out).run();
}

}  // namespace opid::http
