#pragma once
// Reads the two fields that delimit a body: Content-Length (RFC 9110 section 8.6) and Transfer-Encoding (RFC 9112
// section 6.1), over all their lines.
#include <cstdint>
#include <string_view>

namespace opid::http {

// All Content-Length lines of one message. Equal values count as one; anything else is not `sound`.
class ContentLength {
public:
    void add_line(std::string_view value);
    bool present() const { return present_; }
    bool sound() const { return sound_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    void add_value(std::string_view digits);
    std::uint64_t bytes_ = 0;
    bool present_ = false;
    bool known_ = false;
    bool sound_ = true;
};

enum class Coding : std::uint8_t {
    none,           // no Transfer-Encoding
    chunked,        // exactly `chunked`, on one line
    coded_chunked,  // other codings, then chunked
    coded,          // well-formed, but the last coding is not chunked
    malformed,      // empty elements, parameters, chunked twice, several lines, identity beside another coding
};

class TransferCoding {
public:
    void add_line(std::string_view value);
    Coding coding() const { return coding_; }

private:
    Coding coding_ = Coding::none;
};

}  // namespace opid::http
