#include "core/http/chunk_writer.hpp"

#include "base/invariant.hpp"
#include "core/http/chunk_reader.hpp"

namespace opid::http {

std::string_view ChunkWriter::before_data(std::size_t size) {
    OPID_INVARIANT(!finished_);
    if (size == 0) return {};
    std::size_t at = line_.size();
    line_[--at] = '\n';
    line_[--at] = '\r';
    for (std::size_t rest = size; rest > 0; rest >>= 4) line_[--at] = "0123456789abcdef"[rest & 15];
    return std::string_view(line_.data() + at, line_.size() - at);
}

void ChunkWriter::append(std::string_view data, std::string& out) {
    const std::string_view line = before_data(data.size());
    if (line.empty()) return;
    out += line;
    out += data;
    out += after_data;
}

std::string_view ChunkWriter::finish() {
    if (finished_) return {};
    finished_ = true;
    return "0\r\n\r\n";
}

void ChunkWriter::finish(const FieldList& trailers, std::string& out) {
    if (finished_) return;
    finished_ = true;
    out += "0\r\n";
    for (const Field& field : trailers) {
        if (!is_token(field.name) || !is_field_value(field.value) || !may_be_trailer(field.name)) continue;
        out += field.name;
        out += ": ";
        out += field.value;
        out += "\r\n";
    }
    out += "\r\n";
}

}  // namespace opid::http
