#include "core/identity/mark_placement.hpp"

namespace opid {

Result<std::string> place_mark(const JsonPointer& pointer, std::string_view mark, const CarrierRequest& request) {
    KeyCarrier carrier;
    carrier.kind = KeyCarrier::Kind::body;
    carrier.pointer = pointer;
    auto change = place_key(carrier, mark, request);
    if (!change) return change.error();
    return std::move(*change->body);
}

}  // namespace opid
