#pragma once
// "LENGTH:bytes", the unit of every canonical encoding that is not JSON: unambiguous whatever the bytes are.
#include <string>
#include <string_view>

namespace opid {

inline void append_netstring(std::string& out, std::string_view bytes) {
    out += std::to_string(bytes.size());
    out.push_back(':');
    out += bytes;
}

}  // namespace opid
