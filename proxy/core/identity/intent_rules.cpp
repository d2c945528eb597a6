#include "core/identity/intent_rules.hpp"

#include "base/encoding.hpp"

namespace opid {

bool never_in_intent(std::string_view header_name) {
    const std::string name = ascii_lower(header_name);
    if (name.rfind("operation-", 0) == 0) return true;
    for (const std::string_view secret : {"authorization", "proxy-authorization", "cookie"}) {
        if (name == secret) return true;
    }
    return false;
}

}  // namespace opid
