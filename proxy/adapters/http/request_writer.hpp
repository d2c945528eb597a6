#pragma once
// The bytes of one guarded request on their way to the provider, and how far they got.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/net/stream.hpp"
#include "core/http/chunk_writer.hpp"
#include "engine/ports/upstream.hpp"

namespace opid {

class RequestWriter {
public:
    // Lays the request out from its first byte. It and what it views outlive the writing.
    void start(const OutboundRequest& request, const std::string& authority);

    bool all_out() const;
    std::uint64_t bytes_out() const { return out_; }  // handed to the connection since start()

    // One attempt to get more of it out; not after all_out().
    Io write_some(Stream& stream);

private:
    std::string head_;
    std::string tail_;
    http::ChunkWriter chunks_;
    std::array<std::string_view, 4> pieces_;  // what is not out yet
    std::uint64_t out_ = 0;
};

}  // namespace opid
