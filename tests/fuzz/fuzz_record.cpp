// Stored bytes that something else damaged: decoding gives a value or an error, and a value survives a round trip.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/operation/record_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const opid::Result<opid::Operation> operation = opid::decode_operation(bytes);
    if (operation) {
        const opid::Result<opid::Operation> again = opid::decode_operation(opid::encode_operation(*operation));
        if (!again || !(*again == *operation)) std::abort();
    }
    const opid::Result<opid::Tombstone> tombstone = opid::decode_tombstone(bytes);
    if (tombstone && opid::encode_tombstone(*tombstone).size() > 64) std::abort();
    const opid::Result<std::vector<opid::HistoryEvent>> history = opid::decode_history(bytes);
    if (history) {
        const auto again = opid::decode_history(opid::encode_history(*history));
        if (!again || !(*again == *history)) std::abort();
    }
    return 0;
}
