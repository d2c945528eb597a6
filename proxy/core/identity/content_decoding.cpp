#include "core/identity/content_decoding.hpp"

#include <brotli/decode.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/encoding.hpp"

namespace opid {
namespace {

constexpr std::size_t codings_max = 4;
constexpr std::size_t step_bytes = 64 * 1024;

DecodedContent failed(DecodeOutcome outcome) { return DecodedContent{outcome, {}}; }

class Inflater {
public:
    explicit Inflater(int window_bits) { ready_ = inflateInit2(&stream_, window_bits) == Z_OK; }
    ~Inflater() {
        if (ready_) inflateEnd(&stream_);
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    DecodedContent run(std::string_view body, std::size_t bytes_max, bool members) {
        if (!ready_) return failed(DecodeOutcome::invalid);
        DecodedContent content{DecodeOutcome::decoded, {}};
        std::vector<unsigned char> buffer(step_bytes);
        feed_ = body;
        while (true) {
            give_input();
            stream_.next_out = buffer.data();
            stream_.avail_out = static_cast<uInt>(buffer.size());
            const int code = inflate(&stream_, Z_NO_FLUSH);
            const std::size_t made = buffer.size() - stream_.avail_out;
            if (made > bytes_max - content.bytes.size()) return failed(DecodeOutcome::too_large);
            content.bytes.append(reinterpret_cast<const char*>(buffer.data()), made);
            if (code == Z_STREAM_END) {
                if (left() == 0) return content;
                if (!members || inflateReset(&stream_) != Z_OK) return failed(DecodeOutcome::invalid);
            } else if (code != Z_OK || (left() == 0 && stream_.avail_out > 0)) {
                return failed(DecodeOutcome::invalid);  // damaged, or cut
            }
        }
    }

private:
    std::size_t left() const { return feed_.size() + stream_.avail_in; }
    void give_input() {  // zlib counts in 32 bits
        if (stream_.avail_in > 0 || feed_.empty()) return;
        const std::size_t part = std::min<std::size_t>(feed_.size(), std::size_t{1} << 30);
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(feed_.data()));
        stream_.avail_in = static_cast<uInt>(part);
        feed_.remove_prefix(part);
    }

    z_stream stream_{};
    std::string_view feed_;
    bool ready_ = false;
};

constexpr int gzip_window = 15 + 16;
constexpr int zlib_window = 15;
constexpr int bare_deflate_window = -15;

DecodedContent gunzip(std::string_view body, std::size_t bytes_max) {
    return Inflater(gzip_window).run(body, bytes_max, true);
}

// "deflate" means the zlib wrapping, but some senders leave it out (RFC 9110 section 8.4.1.2).
DecodedContent undeflate(std::string_view body, std::size_t bytes_max) {
    auto content = Inflater(zlib_window).run(body, bytes_max, false);
    if (content.outcome != DecodeOutcome::invalid) return content;
    return Inflater(bare_deflate_window).run(body, bytes_max, false);
}

DecodedContent unbrotli(std::string_view body, std::size_t bytes_max) {
    const std::unique_ptr<BrotliDecoderState, void (*)(BrotliDecoderState*)> state(
        BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), BrotliDecoderDestroyInstance);
    if (!state) return failed(DecodeOutcome::invalid);
    DecodedContent content{DecodeOutcome::decoded, {}};
    std::vector<std::uint8_t> buffer(step_bytes);
    std::size_t in_left = body.size();
    auto in = reinterpret_cast<const std::uint8_t*>(body.data());
    while (true) {
        std::size_t out_left = buffer.size();
        std::uint8_t* out = buffer.data();
        const auto code = BrotliDecoderDecompressStream(state.get(), &in_left, &in, &out_left, &out, nullptr);
        const std::size_t made = buffer.size() - out_left;
        if (made > bytes_max - content.bytes.size()) return failed(DecodeOutcome::too_large);
        content.bytes.append(reinterpret_cast<const char*>(buffer.data()), made);
        if (code == BROTLI_DECODER_RESULT_SUCCESS && in_left == 0) return content;
        if (code != BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) return failed(DecodeOutcome::invalid);
    }
}

// The codings in the order of application, without identity; empty members of the list are skipped.
std::vector<std::string> codings_of(std::string_view list) {
    std::vector<std::string> codings;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        auto coding = ascii_lower(trim_blank(list.substr(at, end - at)));
        if (!coding.empty() && coding != "identity") codings.push_back(std::move(coding));
        at = end + 1;
    }
    return codings;
}

DecodedContent decode_one(std::string_view coding, std::string_view body, std::size_t bytes_max) {
    if (coding == "gzip" || coding == "x-gzip") return gunzip(body, bytes_max);
    if (coding == "deflate") return undeflate(body, bytes_max);
    if (coding == "br") return unbrotli(body, bytes_max);
    return failed(DecodeOutcome::invalid);
}

}  // namespace

bool is_identity_coding(std::string_view content_coding) { return codings_of(content_coding).empty(); }

DecodedContent decode_content(std::string_view content_coding, std::string_view body, std::size_t bytes_max) {
    const auto codings = codings_of(content_coding);
    if (codings.size() > codings_max) return failed(DecodeOutcome::invalid);
    if (codings.empty()) {
        if (body.size() > bytes_max) return failed(DecodeOutcome::too_large);
        return DecodedContent{DecodeOutcome::decoded, std::string(body)};
    }
    DecodedContent content;
    std::string_view input = body;
    for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) {
        DecodedContent step = decode_one(*coding, input, bytes_max);
        if (step.outcome != DecodeOutcome::decoded) return step;
        content = std::move(step);
        input = content.bytes;
    }
    return content;
}

}  // namespace opid
