#include "core/tls/client_hello.hpp"

#include <algorithm>
#include <bitset>

namespace opid::tls {
namespace {

// RFC 8446 sections 5.1, 4 and 4.2; RFC 6066 section 3.
constexpr unsigned char handshake_record = 22;
constexpr unsigned char major_version = 3;
constexpr unsigned char client_hello_type = 1;
constexpr unsigned char host_name_type = 0;
constexpr std::size_t record_header_bytes = 5;
constexpr std::size_t record_fragment_max = std::size_t{16} * 1024;
constexpr std::size_t random_bytes = 32;
constexpr std::size_t session_id_max = 32;
constexpr std::size_t host_name_max = 255;
constexpr std::size_t server_name_extension = 0;
constexpr std::size_t alpn_extension = 16;
// Version, random, empty session ID, one cipher suite, one compression method.
constexpr std::size_t hello_body_min = 2 + random_bytes + 1 + 4 + 2;

unsigned char octet(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

// Walks over a message of which maybe only a prefix has arrived, and tells "not there yet" from "can't be there". It
// stops for good at the first of the two; whatever is read after that is empty.
class MessageReader {
public:
    explicit MessageReader(std::string_view arrived) : arrived_(arrived) {}

    bool going() const { return outcome_ == HelloOutcome::complete; }
    HelloOutcome outcome() const { return outcome_; }
    std::string_view why() const { return why_; }

    std::size_t remaining() const { return end_ - position_; }  // of the innermost structure
    bool inside() const { return going() && remaining() > 0; }

    void refuse(std::string_view why) {
        if (outcome_ == HelloOutcome::refused) return;
        outcome_ = HelloOutcome::refused;
        why_ = why;
    }

    // Big-endian; refused as soon as the bytes at hand make it larger than `most`.
    std::size_t number(std::size_t bytes, std::size_t most) {
        if (going() && remaining() < bytes) refuse("a field runs past the end of what holds it");
        std::size_t value = 0;
        for (std::size_t left = bytes; going() && left > 0; --left) {
            if (position_ == arrived_.size()) {
                outcome_ = HelloOutcome::need_more;
            } else {
                value = value << 8U | octet(arrived_, position_++);
                if (value << 8U * (left - 1) > most) refuse("a length is larger than what can follow");
            }
        }
        return going() ? value : 0;
    }

    // While it is still arriving: the part that is there.
    std::string_view take(std::size_t count) {
        if (going() && remaining() < count) refuse("a field runs past the end of what holds it");
        if (!going()) return {};
        const std::string_view there = arrived_.substr(position_, count);
        position_ += there.size();
        if (there.size() < count) outcome_ = HelloOutcome::need_more;
        return there;
    }

    // The length in front of a vector; `follows`: what the structure must still hold behind the vector.
    std::size_t length(std::size_t bytes, std::size_t most, std::size_t follows = 0) {
        const std::size_t taken = bytes + follows;
        return number(bytes, std::min(most, remaining() > taken ? remaining() - taken : 0));
    }

    // The length of a list that fills the rest of its structure.
    void list(std::string_view what_is_wrong) {
        const std::size_t size = length(2, 0xffff);
        if (going() && (size == 0 || size != remaining())) refuse(what_is_wrong);
    }

    // Reading is confined to the next `count` bytes until leave().
    std::size_t enter(std::size_t count) {
        const std::size_t outer = end_;
        if (going()) end_ = position_ + count;
        return outer;
    }
    void leave(std::size_t outer) {
        if (going()) end_ = outer;
    }

    std::size_t position() const { return position_; }
    std::string_view since(std::size_t position) const { return arrived_.substr(position, position_ - position); }

private:
    std::string_view arrived_;
    std::size_t position_ = 0;
    std::size_t end_ = client_hello_max;
    HelloOutcome outcome_ = HelloOutcome::complete;  // so far
    std::string_view why_;
};

// What is wanted, as views into the message.
struct Findings {
    bool server_name_given = false;
    std::string_view server_name;
    bool alpn_given = false;
    std::string_view alpn;  // the list, checked: length, name, length, name …
};

void read_server_names(MessageReader& reader, Findings& found) {
    reader.list("server_name: its list is empty or not what fills it");
    std::bitset<256> seen;
    while (reader.inside()) {
        const std::size_t type = reader.number(1, 0xff);
        if (reader.going() && seen.test(type)) reader.refuse("server_name: two names of one type");
        seen.set(type);
        if (type != host_name_type) {
            reader.take(reader.length(2, 0xffff));  // whatever types are still to come, they begin with their length
            continue;
        }
        const std::size_t size = reader.length(2, host_name_max);
        if (reader.going() && size == 0) reader.refuse("server_name: an empty name");
        const std::string_view name = reader.take(size);
        if (name.find('\0') != std::string_view::npos) reader.refuse("server_name: a NUL in the name");
        if (!reader.going()) return;
        found.server_name_given = true;
        found.server_name = name;
    }
}

void read_alpn(MessageReader& reader, Findings& found) {
    reader.list("ALPN: its list is empty or not what fills it");
    const std::size_t start = reader.position();
    while (reader.inside()) {
        const std::size_t size = reader.length(1, 0xff);
        if (reader.going() && size == 0) reader.refuse("ALPN: an empty name");
        reader.take(size);
    }
    if (!reader.going()) return;
    found.alpn_given = true;
    found.alpn = reader.since(start);
}

void read_extensions(MessageReader& reader, Findings& found) {
    reader.list("the list of extensions is empty or not what ends the message");
    std::bitset<65536> seen;
    while (reader.inside()) {
        const std::size_t type = reader.number(2, 0xffff);
        if (reader.going() && seen.test(type)) reader.refuse("an extension twice");
        seen.set(type);
        const std::size_t size = reader.length(2, 0xffff);
        const std::size_t outer = reader.enter(size);
        if (reader.going() && type == server_name_extension) {
            read_server_names(reader, found);
        } else if (reader.going() && type == alpn_extension) {
            read_alpn(reader, found);
        } else {
            reader.take(size);
        }
        reader.leave(outer);
    }
}

void read_message(MessageReader& reader, Findings& found) {
    if (reader.number(1, 0xff) != client_hello_type && reader.going()) reader.refuse("not a ClientHello");
    const std::size_t size = reader.length(3, client_hello_max);
    if (reader.going() && size < hello_body_min) reader.refuse("too short for a ClientHello");
    reader.enter(size);
    if (reader.number(1, 0xff) != major_version && reader.going()) reader.refuse("an unknown version");
    reader.take(1 + random_bytes);
    reader.take(reader.length(1, session_id_max, 2 + 2 + 1 + 1));
    const std::size_t suites = reader.length(2, 0xffff, 1 + 1);
    if (reader.going() && (suites == 0 || suites % 2 != 0)) reader.refuse("a malformed list of cipher suites");
    reader.take(suites);
    const std::size_t methods = reader.length(1, 0xff);
    if (reader.going() && methods == 0) reader.refuse("no compression method");
    reader.take(methods);
    if (reader.inside()) read_extensions(reader, found);
}

// Where the record layer stands behind the fragments that were gathered.
struct RecordEnd {
    HelloOutcome outcome = HelloOutcome::need_more;
    std::string_view why;
};

RecordEnd refused(std::string_view why) { return {HelloOutcome::refused, why}; }

// The fragment's length, 0 while the header is not whole; `end` is set where the header can't be right.
std::size_t read_record_header(std::string_view header, bool first, RecordEnd& end) {
    if (!header.empty() && octet(header, 0) != handshake_record) {
        end = first ? RecordEnd{HelloOutcome::not_tls, {}} : refused("another record amid the ClientHello");
    } else if (header.size() > 1 && octet(header, 1) != major_version) {
        end = first ? RecordEnd{HelloOutcome::not_tls, {}} : refused("a record of an unknown version");
    } else if (header.size() > 3) {
        const bool whole = header.size() >= record_header_bytes;
        const std::size_t size = static_cast<std::size_t>(octet(header, 3)) << 8U | (whole ? octet(header, 4) : 0U);
        if (size > record_fragment_max) end = refused("a record over 16 KiB");
        if (whole && size == 0) end = refused("an empty record");
        return whole ? size : 0;
    }
    return 0;
}

// The message as far as it is there; `joined` holds it once it takes more than one record.
std::string_view gather(std::string_view bytes, std::string& joined, RecordEnd& end) {
    std::string_view message;
    for (bool first = true; message.size() < client_hello_max; first = false) {
        const std::size_t size = read_record_header(bytes, first, end);
        if (size == 0 || end.outcome != HelloOutcome::need_more) break;
        bytes.remove_prefix(record_header_bytes);
        const std::string_view fragment = bytes.substr(0, size);
        if (first) {
            message = fragment;
        } else {
            if (joined.empty()) joined = message;
            joined += fragment;
            message = joined;
        }
        if (fragment.size() < size) break;
        bytes.remove_prefix(size);
    }
    return message.substr(0, client_hello_max);
}

std::vector<std::string> names_of(std::string_view list) {
    std::vector<std::string> names;
    while (!list.empty()) {
        const std::size_t size = octet(list, 0);
        names.emplace_back(list.substr(1, size));
        list.remove_prefix(1 + size);
    }
    return names;
}

}  // namespace

bool ClientHello::offers(std::string_view protocol) const {
    return std::find(alpn.begin(), alpn.end(), protocol) != alpn.end();
}

HelloParse parse_client_hello(std::string_view bytes) {
    const bool all_room_used = bytes.size() >= client_hello_wire_max;
    std::string joined;
    RecordEnd end;
    const std::string_view message = gather(bytes.substr(0, client_hello_wire_max), joined, end);
    MessageReader reader(message);
    Findings found;
    read_message(reader, found);

    HelloParse parse;
    parse.outcome = reader.outcome();
    parse.why = reader.why();
    if (parse.outcome == HelloOutcome::need_more) {
        parse.outcome = end.outcome;
        parse.why = end.why;
        if (parse.outcome == HelloOutcome::need_more && all_room_used) {
            parse.outcome = HelloOutcome::refused;
            parse.why = "cut into too many records";
        }
    }
    if (parse.outcome != HelloOutcome::complete) return parse;
    parse.hello.server_name_given = found.server_name_given;
    parse.hello.server_name = found.server_name;
    parse.hello.alpn_given = found.alpn_given;
    parse.hello.alpn = names_of(found.alpn);
    return parse;
}

}  // namespace opid::tls
