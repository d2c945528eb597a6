// Chunked bodies, read and written.
#include <catch2/catch.hpp>

#include "core/http/chunk_reader.hpp"
#include "core/http/chunk_writer.hpp"

using namespace opid::http;
using namespace std::string_literals;

namespace {

struct Read {
    std::string data;
    std::string end;  // `end`, `more`, or status and slug
    std::size_t consumed = 0;
    friend bool operator==(const Read&, const Read&) = default;
};

Read drain(ChunkReader& reader, std::string_view bytes, std::size_t step) {
    Read read;
    std::size_t offered = 0;
    for (;;) {
        offered = std::min(std::max(offered, read.consumed + step), bytes.size());
        const auto got = reader.next(bytes.substr(read.consumed, offered - read.consumed));
        read.consumed += got.consumed;
        read.data += got.data;
        if (got.kind == ChunkReader::Kind::end) read.end = "end";
        if (got.kind == ChunkReader::Kind::refused)
            read.end = std::to_string(got.refusal.status) + " " + std::string(got.refusal.slug);
        if (got.kind == ChunkReader::Kind::need_more && read.consumed == bytes.size()) read.end = "more";
        if (!read.end.empty()) return read;
    }
}

Read read_all(const std::string& bytes, const HeadLimits& limits = {}) {
    ChunkReader whole(MessageSide::request, limits);
    const Read read = drain(whole, bytes, bytes.size() + 1);
    for (const std::size_t step : {1u, 2u, 3u, 7u}) {
        ChunkReader split(MessageSide::request, limits);
        const Read other = drain(split, bytes, step);
        CHECK(other.data == read.data);
        CHECK(other.end == read.end);
        if (read.end == "end") CHECK(other.consumed == read.consumed);
    }
    return read;
}

}  // namespace

TEST_CASE("sound chunked bodies") {
    CHECK(read_all("5\r\nhello\r\n0\r\n\r\n") == Read{"hello", "end", 15});
    CHECK(read_all("5\r\nhello\r\nA\r\n0123456789\r\n00\r\n\r\n").data == "hello0123456789");
    CHECK(read_all("0\r\n\r\n") == Read{"", "end", 5});
    CHECK(read_all("0000000000000005\r\nhello\r\n0\r\n\r\n").data == "hello");
    CHECK(read_all("5;a=b;c=\"d e\"\r\nhello\r\n0;last\r\n\r\n").data == "hello");
    CHECK(read_all("3\r\n\r\n\0\r\n0\r\n\r\n"s) == Read{"\r\n\0"s, "end", 13});
    CHECK(read_all("5\r\nhel").end == "more");
    CHECK(read_all("0\r\n").end == "more");
    CHECK(read_all("7fffffffffffffff\r\nx").end == "more");
    // F47: what follows belongs to the next request.
    CHECK(read_all("1\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\n") == Read{"x", "end", 11});
}

TEST_CASE("malformed chunked bodies") {
    const std::string refused[] = {"0x5\r\nhello\r\n",
                                   "+5\r\nhello\r\n",
                                   "-0\r\n\r\n",
                                   " 5\r\nhello\r\n",
                                   "5 \r\nhello\r\n",
                                   "5junk\r\nhello\r\n",
                                   "0_5\r\nhello\r\n",
                                   "5\t;a=b\r\nhello\r\n",
                                   "5 ;a=b\r\nhello\r\n",
                                   "\r\nhello\r\n",
                                   ";a=b\r\n",
                                   "g\r\n",
                                   "8000000000000000\r\nx",
                                   "ffffffffffffffff\r\nx",
                                   "00000000000000005\r\nhello\r\n",
                                   "1ffffffffffffffff\r\n",
                                   "5\r\nhelloX\r\n0\r\n\r\n",
                                   "5\r\nhello\n0\r\n\r\n",
                                   "5\r\nhello0\r\n\r\n",
                                   "5\r\nhello\rX",
                                   "4\r\nhello\r\n",
                                   "5\nhello\r\n",
                                   "5;a\nhello\r\n",
                                   "5;a\rb\r\nhello\r\n",
                                   "5;a\0b\r\nhello\r\n"s,
                                   "5;\x7f\r\nhello\r\n",
                                   "5\rhello",
                                   "0\n",
                                   "0\r\n\n",
                                   "0\r\n\rX",
                                   "0\r\nX: y\n\r\n",
                                   "0\r\nX y\r\n\r\n",
                                   "0\r\nX : y\r\n\r\n",
                                   "0\r\n X: y\r\n\r\n",
                                   "0\r\nX: \x01\r\n\r\n",
                                   "0\r\nX: y\r\n z\r\n\r\n",
                                   "0\r\nX: y\r\n\n"};
    for (const std::string& bytes : refused) {
        INFO(bytes);
        CHECK(read_all(bytes).end == "400 bad-request");
    }
}

TEST_CASE("faults of an upstream and after a fault") {
    ChunkReader reader(MessageSide::response);
    CHECK(drain(reader, "zz", 9).end == "502 upstream-invalid");
    CHECK(reader.next("0\r\n\r\n").kind == ChunkReader::Kind::refused);
    reader.reset();
    CHECK(drain(reader, "0\r\n\r\n", 9).end == "end");
    const auto again = reader.next("next");
    CHECK(again.kind == ChunkReader::Kind::end);
    CHECK(again.consumed == 0);
}

TEST_CASE("bounds of a chunked body") {
    const auto chunk = [](std::size_t extension) { return "1;" + std::string(extension - 1, 'e') + "\r\nx\r\n"; };
    CHECK(read_all(chunk(8192) + "0\r\n\r\n").end == "end");
    CHECK(read_all(chunk(8193) + "0\r\n\r\n").end == "413 body-too-large");
    std::string many;
    for (int i = 0; i < 8; ++i) many += chunk(8192);
    CHECK(read_all(many + "0\r\n\r\n").end == "end");
    CHECK(read_all(many + "0;\r\n\r\n").end == "413 body-too-large");

    std::string tiny;
    for (int i = 0; i < 200'000; ++i) tiny += "1\r\nx\r\n";
    ChunkReader reader(MessageSide::request);
    CHECK(drain(reader, tiny + "0\r\n\r\n", 4096).data.size() == 200'000);
    std::string padded;
    for (int i = 0; i < 200'000; ++i) padded += "0000000000000001\r\nx\r\n";
    reader.reset();
    CHECK(drain(reader, padded + "0\r\n\r\n", 4096).end == "413 body-too-large");

    const auto trailers = [](std::size_t size) {  // a trailer section of that many bytes
        return "0\r\nX: " + std::string(size - 7, 'x') + "\r\n\r\n";
    };
    const HeadLimits small{.fields = 3, .trailer_bytes = 1024};
    CHECK(read_all(trailers(1024), small).end == "end");
    CHECK(read_all(trailers(1025), small).end == "431 head-too-large");
    CHECK(read_all("0\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", small).end == "end");
    CHECK(read_all("0\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n\r\n", small).end == "431 head-too-large");
}

TEST_CASE("trailers that may and may not be there") {
    ChunkReader reader(MessageSide::request);
    const std::string bytes =
        "0\r\nX-Checksum: 9a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: b\r\n"
        "authorization: x\r\nConnection: close\r\nUpgrade: h2c\r\nCookie: a\r\nContent-Type: b\r\n"
        "Idempotency-Key: k\r\nOperation-Id: 1\r\nProxy-Authorization: z\r\nGrpc-Status: 0\r\n\r\n";
    CHECK(drain(reader, bytes, 5).end == "end");
    REQUIRE(reader.trailers().size() == 2);
    CHECK(reader.trailers()[0] == Field{"X-Checksum", "9a"});
    CHECK(reader.trailers()[1] == Field{"Grpc-Status", "0"});
    CHECK(reader.all_trailers().size() == 13);
}

TEST_CASE("the writer never ends a body by accident and ends it once") {
    ChunkWriter writer;
    std::string out;
    writer.append("hello", out);
    writer.append("", out);  // F48
    writer.append(std::string(31, 'x'), out);
    CHECK(writer.before_data(0).empty());
    CHECK(writer.before_data(0xabcdef) == "abcdef\r\n");
    out += writer.finish();
    out += writer.finish();  // F49
    CHECK(out == "5\r\nhello\r\n1f\r\n" + std::string(31, 'x') + "\r\n0\r\n\r\n");
    CHECK(writer.finished());
    CHECK(read_all(out).end == "end");

    writer.reset();
    FieldList trailers;
    trailers.add("X-Sum", "1");
    trailers.add("Content-Length", "7");
    trailers.add("X-Bad", "a\r\nInjected: b");
    out.clear();
    writer.finish(trailers, out);
    writer.finish(trailers, out);
    out += writer.finish();
    CHECK(out == "0\r\nX-Sum: 1\r\n\r\n");
}
