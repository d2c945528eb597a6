#include "core/identity/content_decoding.hpp"

#include <brotli/encode.h>
#include <zlib.h>
#include <catch2/catch.hpp>

using namespace opid;

namespace {

std::string deflated(std::string_view text, int window_bits) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}
std::string gzip(std::string_view text) { return deflated(text, 31); }
std::string zlib(std::string_view text) { return deflated(text, 15); }
std::string bare(std::string_view text) { return deflated(text, -15); }

std::string brotli(std::string_view text) {
    std::string out(BrotliEncoderMaxCompressedSize(text.size()) + 64, '\0');
    std::size_t size = out.size();
    REQUIRE(BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, text.size(),
                                  reinterpret_cast<const std::uint8_t*>(text.data()), &size,
                                  reinterpret_cast<std::uint8_t*>(out.data())) == BROTLI_TRUE);
    out.resize(size);
    return out;
}

std::string decoded(std::string_view coding, std::string_view body, std::size_t bytes_max = 1 << 20) {
    const auto content = decode_content(coding, body, bytes_max);
    if (content.outcome == DecodeOutcome::too_large) return "too large";
    if (content.outcome == DecodeOutcome::invalid) return "invalid";
    return content.bytes;
}

const std::string text = R"({"amount":1200,"to":"acct_9"})";

}  // namespace

TEST_CASE("each coding is undone") {
    CHECK(decoded("", text) == text);
    CHECK(decoded("identity", text) == text);
    CHECK(decoded("gzip", gzip(text)) == text);
    CHECK(decoded("X-GZip", gzip(text)) == text);
    CHECK(decoded("gzip", gzip("abc") + gzip("def")) == "abcdef");
    CHECK(decoded("deflate", zlib(text)) == text);
    CHECK(decoded("deflate", bare(text)) == text);
    CHECK(decoded("br", brotli(text)) == text);
    CHECK(decoded("gzip", gzip("")).empty());
    CHECK(decoded("gzip, br", brotli(gzip(text))) == text);
    CHECK(decoded("gzip,identity , gzip", gzip(gzip(text))) == text);
    const std::string large(300'000, 'x');
    CHECK(decoded("gzip", gzip(large)) == large);
    CHECK(decoded("br", brotli(large)) == large);
    CHECK(is_identity_coding(" identity , "));
    CHECK_FALSE(is_identity_coding("gzip"));
}

TEST_CASE("what can't be undone is invalid") {
    CHECK(decoded("zstd", text) == "invalid");
    CHECK(decoded("gzip, zstd", text) == "invalid");
    CHECK(decoded("gzip", text) == "invalid");
    CHECK(decoded("br", text) == "invalid");
    CHECK(decoded("deflate", text) == "invalid");
    for (const char* coding : {"gzip", "deflate", "br"}) CHECK(decoded(coding, "") == "invalid");
    CHECK(decoded("gzip", gzip(text).substr(0, 20)) == "invalid");
    CHECK(decoded("gzip", gzip(text).substr(0, gzip(text).size() - 1)) == "invalid");
    CHECK(decoded("deflate", zlib(text).substr(0, 10)) == "invalid");
    CHECK(decoded("br", brotli(text).substr(0, 10)) == "invalid");
    CHECK(decoded("gzip", gzip(text) + "x") == "invalid");
    CHECK(decoded("deflate", zlib(text) + "x") == "invalid");
    CHECK(decoded("br", brotli(text) + "x") == "invalid");
    std::string damaged = gzip(text);
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
    CHECK(decoded("gzip", damaged) == "invalid");
    CHECK(decoded("gzip,gzip,gzip,gzip,gzip", text) == "invalid");
}

TEST_CASE("a bomb stops at the bound") {
    const std::string zeros(64 << 20, '\0');
    CHECK(decoded("gzip", gzip(zeros)) == "too large");
    CHECK(decoded("deflate", zlib(zeros)) == "too large");
    CHECK(decoded("deflate", bare(zeros)) == "too large");
    CHECK(decoded("br", brotli(zeros)) == "too large");
    CHECK(decoded("gzip, gzip", gzip(gzip(zeros))) == "too large");
    CHECK(decoded("gzip", gzip(text), text.size()) == text);
    CHECK(decoded("gzip", gzip(text), text.size() - 1) == "too large");
    CHECK(decoded("", text, text.size() - 1) == "too large");
}
