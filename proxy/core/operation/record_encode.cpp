// Writes records as record.proto has them, straight into the bytes that the store takes: a guarded write encodes two,
// and the generated classes would copy each text of them first. Byte for byte what those would write (a test compares).
#include "core/operation/record_codec.hpp"

namespace opid {
namespace {

std::string_view view(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

// The wire format of protocol buffers. As proto3 has it, a field that holds its default is left out.
class WireWriter {
public:
    explicit WireWriter(std::string& out) : out_(out) {}

    void number(std::uint32_t field, std::uint64_t value) {
        if (value != 0) present_number(field, value);
    }
    void present_number(std::uint32_t field, std::uint64_t value) {
        char encoded[20];
        const std::size_t width = put_varint(encoded, field << 3);
        out_.append(encoded, width + put_varint(encoded + width, value));
    }
    void time(std::uint32_t field, Instant at) { number(field, static_cast<std::uint64_t>(to_unix_ms(at))); }
    void optional_time(std::uint32_t field, const std::optional<Instant>& at) {
        if (at) present_number(field, static_cast<std::uint64_t>(to_unix_ms(*at)));
    }
    template <class Enum>
    void word(std::uint32_t field, Enum value) {
        number(field, static_cast<std::uint64_t>(value));
    }
    void bytes(std::uint32_t field, std::string_view value) {
        if (value.empty()) return;
        char encoded[20];
        const std::size_t width = put_varint(encoded, field << 3 | 2);
        out_.append(encoded, width + put_varint(encoded + width, value.size()));
        out_.append(value);
    }
    // Always there, with whatever `fill` writes. Its length stands before it: most are short, and one byte is kept for
    // it.
    template <class Fill>
    void message(std::uint32_t field, const Fill& fill) {
        char encoded[11];
        const std::size_t tag_width = put_varint(encoded, field << 3 | 2);
        encoded[tag_width] = '\0';
        out_.append(encoded, tag_width + 1);
        const std::size_t begin = out_.size() - 1;
        fill();
        const std::size_t size = out_.size() - begin - 1;
        char length[10];
        const std::size_t width = put_varint(length, size);
        if (width > 1) out_.insert(begin, width - 1, '\0');
        out_.replace(begin, width, length, width);
    }

private:
    static std::size_t put_varint(char* to, std::uint64_t value) {
        std::size_t width = 0;
        for (; value >= 0x80; value >>= 7) to[width++] = static_cast<char>(value | 0x80);
        to[width++] = static_cast<char>(value);
        return width;
    }

    std::string& out_;
};

class RecordEncoder {
public:
    RecordEncoder(std::string& out, std::size_t inline_max) : to_(out), inline_max_(inline_max) {}

    void record(const Operation& in) {
        to_.number(1, record_format);
        to_.bytes(2, {reinterpret_cast<const char*>(in.key.bytes.data()), in.key.bytes.size()});
        to_.number(3, in.version);
        to_.bytes(4, in.tenant);
        to_.bytes(5, in.scope);
        to_.bytes(6, in.id);
        to_.bytes(7, in.provider);
        to_.bytes(8, in.rule);
        to_.bytes(9, in.profile_digest);
        to_.bytes(10, view(in.digest));
        to_.bytes(11, view(in.raw_digest));
        to_.message(12, [&] { intent(in.intent); });
        to_.word(13, in.status);
        to_.number(14, in.doubt);
        to_.number(15, in.keyed_retry_closed);
        to_.number(16, in.sends);
        to_.number(17, in.key_generation);
        to_.bytes(18, in.provider_key);
        to_.bytes(19, in.provider_ref);
        to_.optional_time(20, in.first_sent);
        to_.optional_time(21, in.retry_not_before);
        to_.number(22, in.look_ups);
        to_.message(23, [&] { owner(in.owner); });
        for (const Attempt& each : in.attempts) to_.message(24, [&] { attempt(each); });
        if (in.response) to_.message(25, [&] { response(*in.response); });
        if (in.approval) to_.message(26, [&] { approval(*in.approval); });
        to_.message(27, [&] {
            to_.word(1, in.next_step.kind);
            to_.time(2, in.next_step.at);
        });
        to_.time(28, in.created);
        to_.time(29, in.updated);
        for (const HistoryEvent& each : in.history) to_.message(30, [&] { event(each); });
        to_.number(31, in.history_length);
        to_.bytes(32, in.key_carrier);
    }

    void history(const std::vector<HistoryEvent>& events) {
        to_.number(1, record_format);
        for (const HistoryEvent& each : events) to_.message(2, [&] { event(each); });
    }

    void tombstone(const Tombstone& in) {
        to_.number(1, record_format);
        to_.word(2, in.status);
        to_.time(3, in.created);
        to_.time(4, in.retired);
    }

private:
    void payload(const Payload& in) {
        const bool external = in.external || (in.kept && in.bytes.size() > inline_max_);
        to_.number(1, in.size);
        to_.bytes(2, view(in.digest));
        to_.number(3, in.kept);
        to_.number(4, external);
        if (in.kept && !external) to_.bytes(5, in.bytes);
    }

    void headers(std::uint32_t field, const StoredFields& fields) {
        for (const auto& each : fields) {
            to_.message(field, [&] {
                to_.bytes(1, each.first);
                to_.bytes(2, each.second);
            });
        }
    }

    void intent(const RecordedIntent& in) {
        to_.bytes(1, in.method);
        to_.bytes(2, in.scheme_authority);
        to_.bytes(3, in.target);
        headers(4, in.headers);
        to_.message(5, [&] { payload(in.body); });
    }

    void response(const RecordedResponse& in) {
        to_.number(1, static_cast<std::uint32_t>(in.status));
        to_.bytes(2, in.reason);
        headers(3, in.headers);
        to_.message(4, [&] { payload(in.body); });
        to_.number(5, in.recovered);
    }

    void attempt(const Attempt& in) {
        to_.bytes(1, in.id);
        to_.word(2, in.kind);
        to_.time(3, in.started);
        to_.optional_time(4, in.ended);
        to_.number(5, in.key_generation);
        to_.message(6, [&] {
            to_.word(1, in.evidence.stage);
            to_.number(2, in.evidence.bytes_sent);
            to_.number(3, static_cast<std::uint32_t>(in.evidence.http_status));
            to_.bytes(4, in.evidence.failure);
            to_.bytes(5, in.evidence.interim);
            to_.number(6, in.evidence.provider_replayed);
        });
        if (in.verdict) to_.word(7, *in.verdict);
    }

    void owner(const Owner& in) {
        to_.bytes(1, in.node);
        to_.number(2, in.epoch);
        to_.time(3, in.lease_until);
    }

    void approval(const ApprovalRecord& in) {
        to_.bytes(1, in.approver);
        to_.bytes(2, in.digest_hex);
        to_.bytes(3, in.scope);
        to_.time(4, in.granted);
        to_.time(5, in.expires);
    }

    void event(const HistoryEvent& in) {
        to_.number(1, in.sequence);
        to_.time(2, in.at);
        to_.bytes(3, in.what);
        to_.bytes(4, in.actor);
        to_.word(5, in.from);
        to_.word(6, in.to);
        to_.bytes(7, in.detail);
    }

    WireWriter to_;
    std::size_t inline_max_;
};

// Enough for an ordinary record, so that its bytes are allocated once.
std::size_t likely_size(const Operation& operation) {
    constexpr std::size_t fixed = 768;
    constexpr std::size_t of_each = 96;
    const std::size_t response = operation.response ? operation.response->body.bytes.size() + 4 * of_each : 0;
    return fixed + operation.intent.body.bytes.size() + response +
           of_each * (operation.history.size() + operation.attempts.size());
}

}  // namespace

std::string encode_operation(const Operation& operation, std::size_t inline_body_bytes_max) {
    std::string bytes;
    bytes.reserve(likely_size(operation));
    RecordEncoder(bytes, inline_body_bytes_max).record(operation);
    return bytes;
}

std::string encode_tombstone(const Tombstone& tombstone) {
    std::string bytes;
    RecordEncoder(bytes, 0).tombstone(tombstone);
    return bytes;
}

std::string encode_history(const std::vector<HistoryEvent>& events) {
    std::string bytes;
    RecordEncoder(bytes, 0).history(events);
    return bytes;
}

}  // namespace opid
